"""What the agent tells an app by itself, and the queue in which it waits for the app's handlers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Union

from aldaba._agent_activities import Activity
from aldaba._agent_notification import Notification
from aldaba._agent_options import AppState, Kind
from aldaba._agent_values import AgentError, DeletedMessages, Response, UpstreamEnd

WAITING_LIMIT = 256


@dataclass(frozen=True)
class NotificationCame:
    notification: Notification
    kind: Kind


@dataclass(frozen=True)
class ResponseCame:
    response: Response


@dataclass(frozen=True)
class MessageCame:
    notification: Notification


@dataclass(frozen=True)
class MessagesWereDeleted:
    id: int
    messages: DeletedMessages


@dataclass(frozen=True)
class UpstreamHasEnded:
    number: int
    end: UpstreamEnd


@dataclass(frozen=True)
class TokenChanged:
    token: str


@dataclass(frozen=True)
class StateChanged:
    state: AppState


@dataclass(frozen=True)
class SettingsWanted:
    notification: Notification | None


@dataclass(frozen=True)
class ChannelChanged:
    is_connected: bool


@dataclass(frozen=True)
class ClientClosed:
    error: AgentError


@dataclass(frozen=True)
class ExtensionBegan:
    notification: Notification


@dataclass(frozen=True)
class ExtensionExpires:
    notification: int


@dataclass(frozen=True)
class ActivityChanged:
    activity: Activity


@dataclass(frozen=True)
class ActivityTokenChanged:
    activity: Activity


@dataclass(frozen=True)
class StartTokenChanged:
    token: str


Event = Union[
    NotificationCame, ResponseCame, MessageCame, MessagesWereDeleted, UpstreamHasEnded, TokenChanged, StateChanged,
    SettingsWanted, ChannelChanged, ClientClosed, ExtensionBegan, ExtensionExpires,
    ActivityChanged, ActivityTokenChanged, StartTokenChanged]
# The agent tells these again on the next connection, as long as they are not answered; activities it always tells.
REDELIVERED = (
    NotificationCame, ResponseCame, MessageCame, MessagesWereDeleted, UpstreamHasEnded, ActivityChanged,
    ActivityTokenChanged)


class EventQueue:
    """Events that wait, at most 256 of each type. One that finds no space is not taken."""

    def __init__(self) -> None:
        self._waiting: list[Event] = []
        self._refused: set[type] = set()

    def add(self, event: Event) -> bool:
        """Whether the event was taken."""
        kind = type(event)
        if sum(type(each) is kind for each in self._waiting) >= WAITING_LIMIT:
            if kind in REDELIVERED:
                self._refused.add(kind)
            return False
        self._waiting.append(event)
        return True

    def take(self, wanted: Collection[type]) -> Event | None:
        """Removes and returns the event of these types that waits longest."""
        for place, event in enumerate(self._waiting):
            if type(event) in wanted:
                return self._waiting.pop(place)
        return None

    def has_caught_up(self) -> bool:
        """Whether events of a type were not taken, and none of this type waits now. Tells it once."""
        caught_up = self._refused - {type(each) for each in self._waiting}
        self._refused -= caught_up
        return bool(caught_up)

    def forget_refused(self) -> None:
        """The agent delivers again what was not taken: the connection has ended."""
        self._refused.clear()


class Ledger:
    """The ids that the app handles, and the answers that the agent has not confirmed."""

    def __init__(self, remembered: int | None = None) -> None:
        self._open: set[int] = set()
        self._remembered = remembered
        self.answers: dict[int, dict[str, object]] = {}

    def begin(self, id: int) -> None:
        self._open.add(id)

    def is_open(self, id: int) -> bool:
        return id in self._open

    def answer(self, id: int, message: dict[str, object]) -> bool:
        """Notes an answer. Returns false for an id that is not being handled."""
        if id not in self._open:
            return False
        self._open.remove(id)
        self.answers[id] = message
        if self._remembered is not None and len(self.answers) > self._remembered:
            del self.answers[next(iter(self.answers))]
        return True

    def confirm(self, ids: Collection[int]) -> None:
        for id in ids:
            self.answers.pop(id, None)
