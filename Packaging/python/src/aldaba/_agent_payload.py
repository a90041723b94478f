"""The content of a provider's notification, read from its payload by Apple's "Generating a remote notification"."""

from __future__ import annotations

import math
from typing import Any

from aldaba._agent_content import Action, Content, Localization, Sound
from aldaba._agent_options import ActionOptions, InterruptionLevel

MOST_ACTIONS = 8


def content_of_payload(payload: dict[str, Any]) -> Content:
    """The content of a payload. A member of another type or out of its range counts as absent."""
    aps = payload.get("aps")
    if not isinstance(aps, dict):
        return Content(user_info=payload)
    badge, score = _number(aps.get("badge")), _number(aps.get("relevance-score"))
    levels = {level.value: level for level in InterruptionLevel}
    level = aps.get("interruption-level")
    return Content(
        **_alert(aps.get("alert")), user_info=payload, sound=_sound(aps.get("sound")),
        badge=int(badge) if badge is not None and badge >= 0 and badge == int(badge) else None,
        category_identifier=_text(aps.get("category")), thread_identifier=_text(aps.get("thread-id")),
        target_content_identifier=_optional_text(aps.get("target-content-id")),
        filter_criteria=_optional_text(aps.get("filter-criteria")),
        interruption_level=levels.get(_text(level), InterruptionLevel.ACTIVE),
        relevance_score=score if score is not None and 0 <= score <= 1 else 0.0)


def _alert(alert: object) -> dict[str, Any]:
    if isinstance(alert, str):
        return {"body": alert}
    if not isinstance(alert, dict):
        return {}
    return {
        "title": _text(alert.get("title")), "subtitle": _text(alert.get("subtitle")), "body": _text(alert.get("body")),
        "title_localization": _localization(alert, "title-loc-key", "title-loc-args"),
        "subtitle_localization": _localization(alert, "subtitle-loc-key", "subtitle-loc-args"),
        "body_localization": _localization(alert, "loc-key", "loc-args"),
        "open_title": _localization(alert, "action-loc-key", ""),
        "launch_image_name": _text(alert.get("launch-image")), "actions": _actions(alert.get("actions"))}


def _actions(listed: object) -> tuple[Action, ...]:
    found = listed[:MOST_ACTIONS] if isinstance(listed, list) else []
    return tuple(
        Action(each["id"], each["title"], ActionOptions.FOREGROUND) for each in found
        if isinstance(each, dict) and isinstance(each.get("id"), str) and isinstance(each.get("title"), str))


def _localization(members: dict[str, Any], key: str, arguments: str) -> Localization | None:
    found, values = members.get(key), members.get(arguments)
    if not isinstance(found, str) or not found:
        return None
    return Localization(found, tuple(_argument(each) for each in (values if isinstance(values, list) else [])))


def _argument(value: object) -> str:
    if isinstance(value, str):
        return value
    number = _number(value)
    if number is None:
        return ""
    return str(int(number)) if number == int(number) else str(number)


def _sound(value: object) -> Sound | None:
    if isinstance(value, str):
        return Sound(None if value == "default" else value) if value else None
    if not isinstance(value, dict):
        return None
    is_critical, name = _number(value.get("critical")) == 1, _optional_text(value.get("name"))
    if not is_critical and not name:
        return None
    volume = _number(value.get("volume"))
    return Sound(
        None if name in ("default", "") else name, is_critical,
        min(1.0, max(0.0, volume)) if is_critical and volume is not None else None)


def _number(value: object) -> float | None:
    """A JSON number as a finite one; true and false are none."""
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            return None
    return value if isinstance(value, float) and math.isfinite(value) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _optional_text(value: object) -> str | None:
    return value if isinstance(value, str) else None
