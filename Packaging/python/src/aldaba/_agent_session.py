"""What a client of the agent says, without input and output: connections, requests, and the answers of the app."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from aldaba._agent_activity_store import OBSERVE, KnownActivities
from aldaba._agent_calls import Call
from aldaba._agent_codec import Message, written
from aldaba._agent_content import Content
from aldaba._agent_events import (
    ChannelChanged, ClientClosed, Event, EventQueue, Ledger, MessageCame, MessagesWereDeleted, NotificationCame,
    ResponseCame, UpstreamHasEnded)
from aldaba._agent_frames import FrameDecoder, frame
from aldaba._agent_notification import Notification
from aldaba._agent_options import AppState, BackgroundResult, PresentationOptions
from aldaba._agent_values import AgentError, Welcome

VERSION = 1
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 5.0
# A connection that ends earlier counts as failed, so that the pause grows.
SHORTEST_CONNECTION = 1.0
REQUEST_LIMIT, REQUEST_BYTES_LIMIT = 1_000, 2 << 20
UNCONFIRMED_LIMIT = 10_000
OUTPUT_LIMIT = 4 << 20
REMEMBERED_DELETIONS, REMEMBERED_ENDS = 64, 1_000
EXTENSION = "serviceExtension"

Value = TypeVar("Value")
Value_contra = TypeVar("Value_contra", contravariant=True)


class Waiter(Protocol[Value_contra]):
    """A future of a shell that gets the value of an answer, or the failure."""

    def done(self) -> bool: ...
    def set_result(self, result: Value_contra, /) -> None: ...
    def set_exception(self, exception: Any, /) -> None: ...


@dataclass
class _Waiting:
    """A request without an answer."""

    call: Call[Any]
    waiter: Waiter[Any]
    frame: bytes
    times_sent: int = 0

    @property
    def ends_token(self) -> bool:
        return bool(self.call.message["type"] == "unregisterForRemoteNotifications")


@dataclass(frozen=True)
class TokenWish:
    """What is asked for on each connection: a device token, or its end."""

    request: int
    is_wanted: bool

    @property
    def message(self) -> Message:
        name = "registerForRemoteNotifications" if self.is_wanted else "unregisterForRemoteNotifications"
        return {"type": name, "request": self.request}


class AgentSession:
    """The state of one client, over all its connections; what the agent says is read by `AgentProtocol`."""

    def __init__(self, app: str, *, secret: str | None = None, run: str | None = None, role: str | None = None) -> None:
        self._hello: Message = {"type": "hello", "version": VERSION, "app": app}
        proofs = {"secret": secret, "run": run, "role": role}
        self._hello |= {key: value for key, value in proofs.items() if value is not None}
        self.is_extension = role == EXTENSION
        self.events = EventQueue()
        self.state = AppState.ACTIVE
        self.token: str | None = None
        self.welcome: Welcome | None = None
        self.closed: AgentError | None = None
        self.is_connected = False
        self.connecting: Waiter[Welcome] | None = None
        self._decoder = FrameDecoder()
        self._output = bytearray()
        self._failures = 0
        self._number = 0
        self._requests: dict[int, _Waiting] = {}
        self._registrations: dict[int, Waiter[str]] = {}
        self._wish: TokenWish | None = None
        self._channel_is_wanted = self._channel_is_connected = False
        self._notifications, self._responses, self._messages = Ledger(), Ledger(), Ledger()
        self._deletions, self._ends = Ledger(REMEMBERED_DELETIONS), Ledger(REMEMBERED_ENDS)
        self._extensions: dict[int, Notification] = {}
        self.activities = KnownActivities(self.events)

    # The connection

    def connected(self) -> None:
        """A connection is open: says who the app is."""
        self._decoder = FrameDecoder()
        self._output = bytearray(frame(self._hello))

    def received(self, piece: bytes) -> None:
        """Bytes came.

        Raises `MalformedMessage` where they are none of this protocol; the shell ends the connection then.
        """
        for message in self._decoder.messages(piece):
            if self.closed is None:
                self._receive(message)

    def output(self) -> bytes:
        """Removes and returns the bytes that are to be written."""
        taken = bytes(self._output)
        self._output.clear()
        return taken

    def should_leave(self, is_written: bool) -> bool:
        """Whether the shell should end this connection, and connect again.

        The agent reads or confirms nothing; or all is written, and events that found no space are to be delivered
        again.
        """
        unconfirmed = sum(len(each.answers) for each in self._ledgers)
        return self.is_connected and (
            len(self._output) > OUTPUT_LIMIT or unconfirmed > UNCONFIRMED_LIMIT
            or (is_written and not self._output and self.events.has_caught_up()))

    def disconnected(self, lasted: float = 0.0) -> float | None:
        """The connection has ended after so many seconds, or was none.

        Returns the pause before the next one, in seconds; `None` where there is none.
        """
        was_connected, self.is_connected = self.is_connected, False
        self._output.clear()
        self.events.forget_refused()
        self._channel_is(False)
        for number in [each for each, waiting in self._requests.items() if not waiting.call.is_repeated]:
            self._fail(number, AgentError("disconnected", "The connection ended before the answer."))
        if self.closed is not None:
            return None
        if self.is_extension:
            self.close(AgentError("disconnected", "The agent has ended the connection."))
            return None
        if was_connected and lasted >= SHORTEST_CONNECTION:
            self._failures = 0
        pause: float = FIRST_PAUSE * 2 ** min(self._failures, 10) * random.uniform(1, 1.5)
        self._failures += 1
        return min(LONGEST_PAUSE, pause)

    def close(self, error: AgentError) -> None:
        """Ends the client: all that waits fails with an error."""
        if self.closed is not None:
            return
        self.closed, self.is_connected = error, False
        if self.connecting is not None and not self.connecting.done():
            self.connecting.set_exception(error)
        else:
            self.events.add(ClientClosed(error))
        for number in list(self._requests):
            self._fail(number, error)
        self._fail_registrations(error)
        self.activities.fail(error)

    @property
    def _ledgers(self) -> tuple[Ledger, Ledger, Ledger]:
        return self._notifications, self._responses, self._messages

    @property
    def unconfirmed(self) -> list[int]:
        """The ids that the app has handled and the agent has not confirmed."""
        return [id for ledger in self._ledgers for id in ledger.answers]

    def _send(self, message: Message) -> None:
        if self.is_connected:
            self._output += frame(message)

    def _send_everything_again(self) -> None:
        for ledger in self._ledgers:
            for answer in ledger.answers.values():
                self._send(answer)
        # A token that is wanted after one that ends is another one, so the end is asked for first.
        ends = {number: waiting for number, waiting in self._requests.items() if waiting.ends_token}
        for waiting in ends.values():
            self._send_request(waiting)
        if self._wish is not None:
            self._send(self._wish.message)
        for number, waiting in self._requests.items():
            if number not in ends:
                self._send_request(waiting)
        if self.activities.is_observed:
            self._send(OBSERVE)

    def _send_request(self, waiting: _Waiting) -> None:
        self._output += waiting.frame
        waiting.times_sent += 1

    # Requests

    def ask(self, call: Call[Value], waiter: Waiter[Value]) -> int:
        """Sends a request, and sends it again on each connection until it is answered. Returns its number."""
        self._check_open()
        self._number += 1
        text = frame(call.message | {"request": self._number})
        size = len(text) + sum(len(each.frame) for each in self._requests.values())
        if len(self._requests) >= REQUEST_LIMIT or size > REQUEST_BYTES_LIMIT:
            raise AgentError("tooManyRequests", f"{len(self._requests)} requests wait for an answer already")
        self._requests[self._number] = waiting = _Waiting(call, waiter, text)
        if waiting.ends_token:
            self._wish = self.token = None
            self._fail_registrations(AgentError("unregistered", "The token was ended."))
        if self.is_connected:
            self._send_request(waiting)
        return self._number

    def register(self, waiter: Waiter[str]) -> int:
        """Asks for the device token, and asks again on each connection."""
        self._check_open()
        if len(self._registrations) >= REQUEST_LIMIT:
            raise AgentError("tooManyRequests", "too many requests for the device token wait for an answer already")
        self._number += 1
        self._wish = TokenWish(self._number, True)
        self._registrations[self._number] = waiter
        self._send(self._wish.message)
        return self._number

    def forget(self, number: int) -> None:
        """Nobody waits for the answer to this request any more."""
        self._requests.pop(number, None)
        self._registrations.pop(number, None)
        self.activities.forget(number)

    def _check_open(self) -> None:
        if self.closed is not None:
            raise self.closed

    def _fail(self, number: int, error: Exception) -> None:
        fail(self._requests.pop(number).waiter, error)

    def _fail_registrations(self, error: Exception) -> None:
        for waiter in self._registrations.values():
            fail(waiter, error)
        self._registrations.clear()

    # What the app says

    def enter(self, state: AppState) -> None:
        """The app has entered a state by itself."""
        if state is not self.state:
            self.state = state
            self._tell_state()

    def _tell_state(self) -> None:
        self._send({"type": "stateChanged", "state": self.state.value})

    def want_channel(self, is_wanted: bool) -> None:
        """Opens or closes the direct channel."""
        self._check_open()
        if is_wanted is not self._channel_is_wanted:
            self._channel_is_wanted = is_wanted
            self._send({"type": "channel", "command": "open" if is_wanted else "close"})
            if not is_wanted:
                self._channel_is(False)

    def notification_handled(self, event: NotificationCame, outcome: PresentationOptions | BackgroundResult) -> None:
        """The app has handled a notification. Without any option it is not shown."""
        answer: Message = {"type": "handled", "notification": event.notification.id}
        if isinstance(outcome, BackgroundResult):
            answer |= {"outcome": "background", "result": outcome.value}
        elif outcome:
            answer |= {"outcome": "presented", "options": int(outcome)}
        else:
            answer["outcome"] = "notPresented"
        self._answer(self._notifications, event.notification.id, answer)

    def handled(self, event: Event) -> None:
        """The app has handled an event that needs no more than that."""
        if isinstance(event, ResponseCame):
            self._answer(self._responses, event.response.id, {"type": "responseHandled", "response": event.response.id})
        elif isinstance(event, MessageCame):
            id = event.notification.id
            self._answer(self._messages, id, {"type": "channel", "command": "taken", "message": id})
        elif isinstance(event, MessagesWereDeleted):
            self._answer(self._deletions, event.id, {"type": "deletionTaken", "deletion": event.id})
        elif isinstance(event, UpstreamHasEnded):
            self._answer(self._ends, event.number, {"type": "channel", "command": "endTaken", "upstream": event.number})

    def _answer(self, ledger: Ledger, id: int, answer: Message) -> None:
        if ledger.answer(id, answer):
            self._send(answer)

    def extending(self, id: int) -> Notification | None:
        """The notification of this id, as long as a service extension has not answered it."""
        return self._extensions.get(id)

    def extended(self, id: int, content: Content | None) -> None:
        """A service extension has changed a notification, or left it. The first answer counts."""
        if not (content is None or isinstance(content, Content)):
            raise TypeError(f"`change` returned {content!r}, and not a Content or None")
        message = {"type": "extended", "notification": id} | ({} if content is None else {"content": written(content)})
        frame(message)
        if id in self._extensions:
            del self._extensions[id]
            self._send(message)

    def extension_failed(self, id: int, message: str) -> None:
        """A service extension could not change a notification."""
        if id in self._extensions:
            del self._extensions[id]
            self._send({"type": "extensionFailed", "notification": id, "message": message})

    def _channel_is(self, is_connected: bool) -> None:
        is_connected = is_connected and self._channel_is_wanted
        if is_connected is not self._channel_is_connected:
            self._channel_is_connected = is_connected
            self.events.add(ChannelChanged(is_connected))

    def _receive(self, message: Message) -> None:
        """Reads a message of the agent."""
        raise NotImplementedError


def fail(waiter: Waiter[Any], error: Exception) -> None:
    if not waiter.done():
        waiter.set_exception(error)
