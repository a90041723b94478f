"""The content of notifications."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aldaba._agent_codec import MalformedMessage, Wired, key, read_fields, written
from aldaba._agent_options import ActionOptions, InterruptionLevel


@dataclass(frozen=True)
class Localization:
    """A key of the app's string tables, and the arguments of its text."""

    key: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sound:
    """A sound: a file by its name, or the default sound. `volume` is that of a critical sound, 0 to 1."""

    name: str | None = None
    is_critical: bool = False
    volume: float | None = None


@dataclass(frozen=True)
class Attachment:
    """A file that belongs to a notification. `path` is absolute; `type` is an identifier such as `public.png`."""

    identifier: str
    path: str
    type: str
    hides_thumbnail: bool | None = None
    thumbnail_clipping_rect: tuple[float, ...] | None = None
    thumbnail_time: float | None = None


@dataclass(frozen=True)
class Icon:
    """An icon by its name: a symbol of the system, or with `is_template` a picture of the app's own."""

    name: str
    is_template: bool = False


@dataclass(frozen=True)
class TextInput:
    """The labels of the text field of a button that asks for a text."""

    button_title: str = ""
    placeholder: str = ""


@dataclass(frozen=True)
class Action:
    """A button of a notification. With a `text_input` it asks for a text."""

    identifier: str
    title: str
    options: ActionOptions = ActionOptions.NONE
    icon: Icon | None = None
    text_input: TextInput | None = None


@dataclass(frozen=True)
class Content(Wired):
    """The content of a notification.

    Every member may be left out. `user_info` is the app's own data, of JSON values.
    """

    title: str = ""
    subtitle: str = ""
    body: str = ""
    badge: int | None = None
    sound: Sound | None = None
    category_identifier: str = ""
    thread_identifier: str = ""
    user_info: Mapping[str, Any] = field(default_factory=dict, hash=False)
    attachments: tuple[Attachment, ...] = ()
    interruption_level: InterruptionLevel = InterruptionLevel.ACTIVE
    relevance_score: float = 0.0
    title_localization: Localization | None = None
    subtitle_localization: Localization | None = None
    body_localization: Localization | None = None
    actions: tuple[Action, ...] = ()
    open_title: Localization | None = None
    launch_image_name: str = ""
    target_content_identifier: str | None = None
    filter_criteria: str | None = None
    # From 0 to 1, for desktops that show one.
    progress: float | None = None
    # A property list in place of the user info, as Swift apps write it; `plistlib` reads it.
    user_info_property_list: bytes | None = None

    @classmethod
    def _read(cls, value: object, path: str) -> Content:
        if not isinstance(value, dict):
            raise MalformedMessage(f"{path}: an object is expected")
        known = dict(value)
        if (text := value.get("userInfo")) is not None:
            known["userInfo"] = json_object(text, f"{path}.userInfo")
        if (listed := value.get("userInfoPropertyList")) is not None:
            known["userInfoPropertyList"] = _bytes(listed, f"{path}.userInfoPropertyList")
        return read_fields(cls, known, path)

    def _written(self) -> Any:
        members = {name: written(found) for name, found in vars(self).items() if found != getattr(PLAIN, name)}
        if self.user_info:
            members["user_info"] = _json(self.user_info)
        if self.user_info_property_list is not None:
            members["user_info_property_list"] = base64.b64encode(self.user_info_property_list).decode()
        return {key(name): found for name, found in members.items()}


PLAIN = Content()


def _json(user_info: Mapping[str, Any]) -> str:
    try:
        return json.dumps(user_info, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as fault:
        raise ValueError(f"the user info is no JSON object: {fault}") from None


def _bytes(text: object, path: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except binascii.Error:
        raise MalformedMessage(f"{path}: a text in base64 is expected") from None


def json_object(text: object, path: str) -> dict[str, Any]:
    """The object of a JSON text."""
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise MalformedMessage(f"{path}: the text of a JSON object is expected")
    return found
