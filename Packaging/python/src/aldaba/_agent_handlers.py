"""The handlers of an app, by the events that they take; and the answers that follow from what they return."""

from __future__ import annotations

import inspect
import logging
import os
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, Union

from aldaba._agent_events import (
    ActivityChanged, ActivityTokenChanged, ChannelChanged, ClientClosed, Event, MessageCame, MessagesWereDeleted,
    NotificationCame, ResponseCame, SettingsWanted, StartTokenChanged, StateChanged, TokenChanged, UpstreamHasEnded)
from aldaba._agent_notification import Notification
from aldaba._agent_options import AppState, BackgroundResult, Kind, PresentationOptions
from aldaba._agent_values import AgentError, DeletedMessages, Response, UpstreamEnd

logger = logging.getLogger("aldaba.agent")

# What a handler of notifications returns: how one is shown, or the result of fetching. `None` is neither.
Outcome = Union[PresentationOptions, BackgroundResult, None]
OutcomeType = TypeVar("OutcomeType")
NothingType = TypeVar("NothingType")

# These wait until the app has a handler or an iterator for them; others are dropped without one.
WAITING = (ResponseCame, MessageCame, MessagesWereDeleted, UpstreamHasEnded)
OTHERS = (
    NotificationCame, TokenChanged, StateChanged, SettingsWanted, ChannelChanged, ClientClosed, ActivityChanged,
    ActivityTokenChanged, StartTokenChanged)


class Handlers(Generic[OutcomeType, NothingType]):
    """The methods by which an app names its handlers.

    Each is used as a decorator, and a later handler replaces an earlier one.
    """

    _takes_coroutines = False

    def __init__(self) -> None:
        self._handlers: dict[type, Callable[..., Any]] = {}

    def _set(self, event: type, handler: Callable[..., Any]) -> None:
        if inspect.iscoroutinefunction(handler) and not self._takes_coroutines:
            raise TypeError(f"{handler.__name__} is asynchronous: AsyncAgent takes such handlers")
        self._handlers[event] = handler
        self._handlers_changed()

    def _handlers_changed(self) -> None:
        """A handler was added, for which events may wait."""

    def on_notification(
        self, handler: Callable[[Notification, Kind], OutcomeType]
    ) -> Callable[[Notification, Kind], OutcomeType]:
        """Handles notifications. The kind says which answer is wanted: presentation options, or a background result."""
        self._set(NotificationCame, handler)
        return handler

    def on_response(self, handler: Callable[[Response], NothingType]) -> Callable[[Response], NothingType]:
        """Handles a person's answers to notifications."""
        self._set(ResponseCame, handler)
        return handler

    def on_message(self, handler: Callable[[Notification], NothingType]) -> Callable[[Notification], NothingType]:
        """Handles the data messages of the direct channel."""
        self._set(MessageCame, handler)
        return handler

    def on_token(self, handler: Callable[[str], NothingType]) -> Callable[[str], NothingType]:
        """Handles another device token, which takes the place of that which `register` returned."""
        self._set(TokenChanged, handler)
        return handler

    def on_state(self, handler: Callable[[AppState], NothingType]) -> Callable[[AppState], NothingType]:
        """Handles another state of the app's, when the agent sets it."""
        self._set(StateChanged, handler)
        return handler

    def on_open_settings(
        self, handler: Callable[[Notification | None], NothingType]
    ) -> Callable[[Notification | None], NothingType]:
        """Handles a person's wish to see the app's own settings, from a notification where there is one."""
        self._set(SettingsWanted, handler)
        return handler

    def on_messages_deleted(
        self, handler: Callable[[DeletedMessages], NothingType]
    ) -> Callable[[DeletedMessages], NothingType]:
        """Handles the deletion of notifications on the server before they came."""
        self._set(MessagesWereDeleted, handler)
        return handler

    def on_upstream_ended(self, handler: Callable[[UpstreamEnd], NothingType]) -> Callable[[UpstreamEnd], NothingType]:
        """Handles the end of a message to the app's provider."""
        self._set(UpstreamHasEnded, handler)
        return handler

    def on_channel_state(self, handler: Callable[[bool], NothingType]) -> Callable[[bool], NothingType]:
        """Handles a change of the direct channel: whether it is open as far as the server."""
        self._set(ChannelChanged, handler)
        return handler

    def on_closed(self, handler: Callable[[AgentError], NothingType]) -> Callable[[AgentError], NothingType]:
        """Handles the end of the client by the agent, such as `superseded`. The client does not connect again."""
        self._set(ClientClosed, handler)
        return handler

    def _wanted(self) -> set[type]:
        """The types of events that are dispatched now."""
        return set(OTHERS) | {each for each in WAITING if each in self._handlers}

    def _check_no_handler(self, event: type, name: str) -> None:
        if event in self._handlers:
            raise ValueError(f"`{name}` already has a handler, which takes what the iterator would return")


def arguments(event: Event) -> tuple[Any, ...]:
    """The arguments of the handler for an event."""
    if isinstance(event, MessagesWereDeleted):
        return (event.messages,)
    if isinstance(event, UpstreamHasEnded):
        return (event.end,)
    return tuple(vars(event).values())


def checked_outcome(kind: Kind, outcome: object) -> PresentationOptions | BackgroundResult:
    """What is answered for a notification. Raises `TypeError` for an outcome that is not one of this kind."""
    if kind.is_shown:
        if outcome is None or isinstance(outcome, PresentationOptions):
            return outcome or PresentationOptions(0)
        wanted = "PresentationOptions or None"
    else:
        if outcome is None or isinstance(outcome, BackgroundResult):
            return outcome or BackgroundResult.NO_DATA
        wanted = "a BackgroundResult or None"
    raise TypeError(f"the handler of notifications returned {outcome!r} for the kind {kind.value}, and not {wanted}")


def failed_outcome(kind: Kind) -> PresentationOptions | BackgroundResult:
    """What is answered for a notification whose handler failed."""
    return PresentationOptions(0) if kind.is_shown else BackgroundResult.FAILED


def default_outcome(kind: Kind, presents: PresentationOptions) -> PresentationOptions | BackgroundResult:
    """What is answered for a notification of an app without a handler."""
    return presents if kind.is_shown else BackgroundResult.NO_DATA


def default_path(environment: Mapping[str, str] = os.environ) -> str:
    """The path of the agent's socket."""
    if named := environment.get("ALDABA_AGENT_SOCKET"):
        return named
    state = os.path.join(os.path.expanduser("~"), ".local", "state")
    folder = environment.get("XDG_RUNTIME_DIR") or environment.get("XDG_STATE_HOME") or state
    return os.path.join(folder, "aldaba", "agent.sock")


def app_id(app: str | None) -> str:
    """The bundle id of the app: that which is given, else that of the environment."""
    found = app or os.environ.get("ALDABA_APP_ID")
    if not found:
        raise ValueError("the app has no id: name it, or set ALDABA_APP_ID, as the agent does for apps that it starts")
    return found


def run_name(run: str | None) -> str | None:
    """The name of this run: one of its own, that which is given, or none for an empty text."""
    return uuid.uuid4().hex if run is None else run or None


def no_agent(path: str, fault: OSError) -> AgentError:
    """The failure of a first connection."""
    return AgentError(
        "noAgent",
        f"No agent listens at {path}: {fault.strerror or fault}. Start one with `aldaba agent` or `aldaba up`.")


def no_welcome(path: str, seconds: float) -> AgentError:
    """The failure of a connection on which nobody answers."""
    return AgentError("noWelcome", f"The agent at {path} has not answered for {seconds:g} s.")
