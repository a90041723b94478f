"""Live Activities: their values, the requests about them, and the refusals of these."""

from __future__ import annotations

import datetime
import enum
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Union

from aldaba._agent_calls import Call
from aldaba._agent_codec import MalformedMessage, Message, Wired, read, read_fields, written
from aldaba._agent_content import Sound, json_object
from aldaba._agent_notification import EPOCH
from aldaba._agent_values import AgentError


class ActivityState(str, enum.Enum):
    """The state of a Live Activity. `STALE`: its date has passed without an update. `ENDED`: it takes no more updates,
    and may still be shown."""

    ACTIVE = "active"
    STALE = "stale"
    ENDED = "ended"
    DISMISSED = "dismissed"


class PushType(str, enum.Enum):
    """The pushes that update a Live Activity: none, or those to a token of its own."""

    NONE = "none"
    TOKEN = "token"


@dataclass(frozen=True)
class ChannelPushes:
    """The pushes to the broadcast channel with this id update a Live Activity."""

    channel: str


class Dismissal(str, enum.Enum):
    """When an ended Live Activity leaves the screen: after four hours, or at once."""

    STANDARD = "standard"
    IMMEDIATE = "immediate"


Pushes = Union[PushType, ChannelPushes]
DismissalPolicy = Union[Dismissal, datetime.datetime]


@dataclass(frozen=True)
class ActivityAlert:
    """The alert with which an update draws attention. Without a sound it is silent."""

    title: str = ""
    body: str = ""
    sound: Sound | None = None


@dataclass(frozen=True)
class _WireContent:
    state: str
    relevance_score: float
    stale_date: int | None = None


@dataclass(frozen=True)
class ActivityContent(Wired):
    """What updates replace: the app's content state, of JSON values; when it is out of date; its rank among the app's
    activities."""

    state: Any = field(hash=False)
    stale_date: datetime.datetime | None = None
    relevance_score: float = 0.0

    @classmethod
    def _read(cls, value: object, path: str) -> ActivityContent:
        wire = read_fields(_WireContent, value, path)
        try:
            state = json.loads(wire.state)
        except (ValueError, RecursionError):
            raise MalformedMessage(f"{path}.state: the text of a JSON value is expected") from None
        return cls(state, None if wire.stale_date is None else _date(wire.stale_date), wire.relevance_score)

    def _written(self) -> Any:
        stale = None if self.stale_date is None else _milliseconds(self.stale_date)
        return written(_WireContent(_text(self.state, "content state"), self.relevance_score, stale))


@dataclass(frozen=True)
class _WireActivity:
    id: str
    attributes_type: str
    attributes: str
    content: ActivityContent
    state: ActivityState
    push_token: str | None = None


@dataclass(frozen=True)
class Activity(Wired):
    """A Live Activity as the agent had it when it told the app of it.

    `id` has 32 hexadecimal digits. `attributes` never change. `push_token` is for pushes to this activity, in
    hexadecimal digits; `None` where it has none yet, or gets none.
    """

    id: str
    attributes_type: str
    attributes: Mapping[str, Any] = field(hash=False)
    content: ActivityContent
    state: ActivityState = ActivityState.ACTIVE
    push_token: str | None = None

    @property
    def is_running(self) -> bool:
        """Whether it takes updates."""
        return self.state in (ActivityState.ACTIVE, ActivityState.STALE)

    @classmethod
    def _read(cls, value: object, path: str) -> Activity:
        wire = read_fields(_WireActivity, value, path)
        return cls(
            wire.id, wire.attributes_type, json_object(wire.attributes, f"{path}.attributes"), wire.content, wire.state,
            wire.push_token)

    def _written(self) -> Any:
        return written(_WireActivity(
            self.id, self.attributes_type, _text(self.attributes, "attributes"), self.content, self.state,
            self.push_token))


def new_activity(
    attributes: object, content: ActivityContent, attributes_type: str | None, identifier: str | None
) -> Activity:
    """An activity that is to be started, as the agent will tell of it. The type of a dataclass is its name."""
    is_typed = is_dataclass(attributes) and not isinstance(attributes, type)
    if not (is_typed or isinstance(attributes, Mapping)):
        raise TypeError(f"attributes are a dataclass or a dictionary, and not {attributes!r}")
    if attributes_type is None and not is_typed:
        raise TypeError("`attributes_type` names the type of attributes that are no dataclass")
    wire = _WireActivity(
        identifier or uuid.uuid4().hex, attributes_type or type(attributes).__name__, _text(attributes, "attributes"),
        content, ActivityState.ACTIVE)
    return read(Activity, written(wire))


def _text(value: object, name: str) -> str:
    """A value as the text of JSON; dataclasses as objects of their fields."""
    try:
        return json.dumps(value, default=_plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as fault:
        raise ValueError(f"the {name} cannot be written as JSON: {fault}") from None


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r} is no JSON value")


def _date(milliseconds: int) -> datetime.datetime:
    """A moment; one that a date cannot express is the last or the first of all."""
    try:
        return EPOCH + datetime.timedelta(milliseconds=milliseconds)
    except OverflowError:
        limit = datetime.datetime.max if milliseconds > 0 else datetime.datetime.min
        return limit.replace(tzinfo=datetime.timezone.utc)


def _milliseconds(date: datetime.datetime) -> int:
    return round(date.timestamp() * 1_000)


# Refusals


class ActivityError(AgentError):
    """A request about Live Activities that the agent refuses."""


class TooManyActivities(ActivityError):
    """The app has eight activities that take updates, as many as it may (`tooManyActivities`)."""


class ActivitiesDenied(ActivityError):
    """The person does not allow the app's notifications (`denied`)."""


class InvalidActivity(ActivityError):
    """The id, the attributes, the channel or the content have not the form that they must have (`invalid`)."""


class ActivityTooLarge(ActivityError):
    """Attributes and content state have more than 4096 bytes together (`contentTooLarge`)."""


class NoActivity(ActivityError):
    """The activity is not there, or has ended (`noActivity`)."""


ERRORS: dict[str, type[ActivityError]] = {
    "tooManyActivities": TooManyActivities, "denied": ActivitiesDenied, "invalid": InvalidActivity,
    "contentTooLarge": ActivityTooLarge, "noActivity": NoActivity}


# Requests, which are answered `accepted` or `refused`


def _accepted(answer: Message) -> None:
    if answer.get("event") == "refused":
        code = read(str, answer.get("code"), "code")
        raise ERRORS.get(code, ActivityError)(code, read(str, answer.get("message"), "message"))


def start(activity: Activity, pushes: Pushes) -> Call[None]:
    wanted = f"channel:{pushes.channel}" if isinstance(pushes, ChannelPushes) else PushType(pushes).value
    message = {"type": "activity", "command": "start", "activity": written(activity), "pushes": wanted}
    return Call(message, "activity", _accepted)


def update(activity: Activity | str, content: ActivityContent, alert: ActivityAlert | None) -> Call[None]:
    message = {"type": "activity", "command": "update", "id": identifier_of(activity), "content": written(content)}
    return Call(message | ({} if alert is None else {"alert": written(alert)}), "activity", _accepted)


def end(activity: Activity | str, content: ActivityContent | None, dismissal: DismissalPolicy) -> Call[None]:
    when = _milliseconds(dismissal) if isinstance(dismissal, datetime.datetime) else Dismissal(dismissal).value
    message: Message = {"type": "activity", "command": "end", "id": identifier_of(activity), "dismissal": when}
    message |= {} if content is None else {"content": written(content)}
    return Call(message, "activity", _accepted, done_code="noActivity")


def identifier_of(activity: Activity | str) -> str:
    """The id of an activity, which may be given itself."""
    return activity.id if isinstance(activity, Activity) else activity
