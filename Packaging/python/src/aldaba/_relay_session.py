"""What a relaying app says to its agent and hears from it, without input and output."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, Union

from aldaba import _relay_requests as requests
from aldaba._agent_codec import MalformedMessage, Message, read
from aldaba._agent_frames import HEADER, RELAY, message_of
from aldaba._agent_handlers import logger
from aldaba._agent_protocol import AgentProtocol
from aldaba._agent_session import VERSION, Waiter, fail
from aldaba._agent_values import AgentError, Welcome
from aldaba._relay_documents import DocumentChange, DocumentWatch
from aldaba._relay_requests import Notice, Order
from aldaba._relay_streams import StreamTable, Taking
from aldaba._relay_types import (
    CloseReason, ConnectionEnded, ConnectionOpened, Device, Launch, Question, RelayEnd, RelayError, Status)
from aldaba._relay_values import FRAME_DEPTH, FRAME_LIMIT, FRAME_VALUES, MessageFault, decode, encode
from aldaba._relay_values import Message as Values
from aldaba._relay_watch import Watch, agent_filters

Value = TypeVar("Value")

ROLE = "relayService"
# As many commands as the agent accepts from one app, those that it queues among them; and what these may have together.
COMMAND_LIMIT, COMMAND_BYTES_LIMIT = 64 + 1024, 16 << 20
# For as many of the largest messages as the agent accepts.
OUTPUT_LIMIT = 64 << 20
QUESTION_LIMIT = 1024
NO_AGENT = "the agent of this device does not answer"


News = Union[Question, Launch, ConnectionOpened, ConnectionEnded, Taking]


@dataclass(frozen=True)
class _Waiting(Generic[Value]):
    order: Order[Value]
    waiter: Waiter[Value]
    size: int


class RelaySession(AgentProtocol):
    """The state of one relaying client, over all its connections to the agent."""

    def __init__(self, app: str, *, secret: str | None, make: Callable[..., RelayEnd]) -> None:
        super().__init__(app, secret=secret, role=ROLE)
        self.app = app
        self._make = make
        self._orders: dict[int, _Waiting[Any]] = {}
        self._asked: dict[int, Question | Launch] = {}
        self.connections: dict[uuid.UUID, RelayEnd] = {}
        self.watches: list[Watch] = []
        # The watchers that begin with the answer to a request.
        self._begun: dict[int, list[Watch]] = {}
        # Those who read changes of documents.
        self.readers: list[DocumentWatch] = []
        self.streams = StreamTable(self)
        self.news: deque[News] = deque()
        # What is published again on each connection.
        self.offer: Values | None = None
        self._offered: int | None = None
        # Whether the app ends the client itself.
        self.is_ending = False
        # Called when nobody waits any more for the answer to what was asked.
        self.when_cancelled: Callable[[Question | Launch], None] = lambda asked: None

    # The connection to the agent

    def received(self, piece: bytes) -> None:
        """Bytes came. Raises `MalformedMessage` where they are none of this protocol."""
        for body in self._decoder.bodies(piece):
            if self.closed is not None:
                return
            if body[:1] != bytes([RELAY]):
                self._receive(message_of(body))
            elif self.is_connected:
                try:
                    self._noticed(decode(body[1:]))
                except MessageFault as fault:
                    raise MalformedMessage(f"a packet about relaying: {fault}") from None

    def should_leave(self, is_written: bool) -> bool:
        """Whether the agent reads nothing, so that another connection is better."""
        return self.is_connected and len(self._output) > OUTPUT_LIMIT

    def _welcomed(self, message: Message) -> None:
        if message.get("version") != VERSION:
            text = f"The agent speaks version {message.get('version')} of the protocol, and this client {VERSION}."
            return self.close(AgentError("version", text))
        self.welcome, self.is_connected = read(Welcome, message), True
        if self.offer is not None:
            self._request(self.offer)
            self._offered = self._number
        if self.watches:
            self._watch_again(self.watches)
        for reader in self.readers:
            reader.back()
        if self.connecting is not None and not self.connecting.done():
            self.connecting.set_result(self.welcome)

    def disconnected(self, lasted: float = 0.0) -> float | None:
        """The connection has ended: what was asked over it has an outcome that nobody knows."""
        pause = super().disconnected(lasted)
        self._drop_everything("the connection to the agent of this device was lost")
        return pause

    def close(self, error: AgentError) -> None:
        """Ends the client: commands that wait are taken back by the agent."""
        super().close(error)
        self._drop_everything(error.message)

    def _drop_everything(self, text: str) -> None:
        error = RelayError(Status.OUTCOME_UNKNOWN, text)
        reason = CloseReason.UNKNOWN
        if self.is_ending:
            error, reason = RelayError(Status.CANCELLED, "the client was closed"), CloseReason.COMPLETED
        for waiting in self._orders.values():
            fail(waiting.waiter, error)
        self._orders.clear()
        self._begun.clear()
        for call in list(self._asked):
            self._cancelled(call)
        for connection in list(self.connections):
            self._ended(connection, reason)
        self.streams.lost()
        for watch in self.watches:
            watch.failed(text)
        for reader in self.readers:
            reader.lost()

    def _request(self, request: Values) -> int:
        """Sends a request under a number of its own. Returns its bytes."""
        self._number += 1
        return self._say(dict(request, request=self._number))

    def say_step(self, step: Values) -> None:
        """Sends a step of a stream; without a connection to the agent there is none any more."""
        if self.is_connected:
            self._say(step)

    def _say(self, request: Values) -> int:
        body = encode(request, FRAME_LIMIT, depth=FRAME_DEPTH, values=FRAME_VALUES)
        self._output += HEADER.pack(len(body) + 1) + bytes([RELAY]) + body
        return len(body)

    # What the app asks

    def order(self, order: Order[Value], waiter: Waiter[Value]) -> int:
        """Sends a request. Returns its number.

        Raises `RelayError` where it cannot be sent now, and `MessageFault` where it never can.
        """
        self._check_open()
        if not self.is_connected:
            raise RelayError(Status.NETWORK_UNAVAILABLE, NO_AGENT)
        bytes_before = sum(each.size for each in self._orders.values())
        if len(self._orders) >= COMMAND_LIMIT or bytes_before > COMMAND_BYTES_LIMIT:
            raise RelayError(
                Status.RESOURCE_LIMITS, "this app has as many commands under way as may be; wait for one to end")
        size = self._request(order.request)
        self._orders[self._number] = _Waiting(order, waiter, size)
        return self._number

    def forget(self, number: int) -> None:
        """Nobody waits for the answer any more: a command is taken back, here and at its target."""
        waiting = self._orders.pop(number, None)
        if waiting is not None and waiting.order.command is not None and self.is_connected:
            self._request({"type": "cancel", "id": waiting.order.command})

    @property
    def unwritten(self) -> int:
        """How many bytes are to be written."""
        return len(self._output)

    def output(self) -> bytes:
        """Removes and returns the bytes that are to be written."""
        taken = super().output()
        if taken and self.streams.outgoing:
            self.streams.when_written()
        return taken

    def watch(self, watch: Watch) -> None:
        """Begins to tell devices to a watcher."""
        self._check_open()
        self.watches.append(watch)
        if self.is_connected:
            self._watch_again([watch])
        else:
            watch.failed(NO_AGENT)

    def unwatch(self, watch: Watch) -> None:
        """Ends a watcher."""
        if watch in self.watches:
            self.watches.remove(watch)
            if not self.watches and self.is_connected:
                self._request({"type": "unwatch"})

    def _watch_again(self, begun: list[Watch]) -> None:
        """Has the agent tell all devices anew; what it tells before its answer is not meant for those that begin."""
        filters = agent_filters(self.watches)
        self._request({"type": "watch"} | ({"filters": filters} if filters else {}))
        self._begun[self._number] = list(begun)

    def answer(self, asked: Question | Launch, answer: Values) -> None:
        """Answers a question or a launch; the first answer counts."""
        # Another one has its number after the connection to the agent was made again.
        if self._asked.get(asked.call) is asked:
            del self._asked[asked.call]
            self._say(answer)

    def close_connection(self, id: uuid.UUID, reason: CloseReason = CloseReason.COMPLETED) -> None:
        """Ends a connection between two apps from this side."""
        connection = self.connections.pop(id, None)
        if connection is not None:
            connection.closed = reason
            if self.is_connected:
                self._request({"type": "close", "connection": id, "reason": reason.value})

    # What the agent tells

    def next_news(self) -> tuple[News] | None:
        """Removes and returns what the app's handlers are told next."""
        return (self.news.popleft(),) if self.news else None

    def _noticed(self, notice: Notice) -> None:
        kind = read(str, notice.get("type"), "type")
        if kind in ("answered", "life", "found"):
            self._settle(read(int, notice.get("request"), "request"), notice)
        elif kind in ("added", "updated"):
            device = read(Device, notice.get("device"), "device")
            for watch in self.watches:
                watch.device(device)
        elif kind == "removed":
            for watch in self.watches:
                watch.removed(read(str, notice.get("device"), "device"))
        elif kind == "enumerationCompleted":
            for watch in self.watches:
                watch.completed()
        elif kind == "watchFailed":
            for watch in self.watches:
                watch.failed(read(str, notice.get("reason"), "reason"))
        elif kind == "cancelled":
            self._cancelled(read(int, notice.get("call"), "call"))
        elif kind in ("asked", "launch"):
            self._was_asked(read(Question, notice) if kind == "asked" else read(Launch, notice))
        elif kind == "opened":
            self._opened(notice)
        elif kind == "closed":
            reason = CloseReason(read(str, notice.get("reason"), "reason"))
            self._ended(read(uuid.UUID, notice.get("connection"), "connection"), reason)
        elif kind == "told":
            change = read(DocumentChange, notice.get("news"), "news")
            for reader in self.readers:
                reader.told(change)
        elif kind == "offered":
            stream = self.streams.offered(notice)
            if stream is not None:
                self.news.append(stream)
        elif kind == "stream":
            self.streams.stepped(notice)

    def _settle(self, number: int, notice: Notice) -> None:
        for watch in self._begun.pop(number, []):
            watch.begins()
        if number == self._offered:
            # Nobody waits for this answer: it is the client that publishes again.
            try:
                requests.outcome(notice)
            except RelayError as error:
                logger.warning("what the app offers was not published again: %s", error)
        waiting = self._orders.pop(number, None)
        if waiting is None:
            return
        try:
            value = waiting.order.read(notice)
        except RelayError as error:
            return fail(waiting.waiter, error)
        if not waiting.waiter.done():
            waiting.waiter.set_result(value)

    def _was_asked(self, asked: Question | Launch) -> None:
        if len(self._asked) >= QUESTION_LIMIT:
            text = f"{QUESTION_LIMIT} questions wait in this app already"
            self._say(requests.failure(asked.call, Status.RESOURCE_LIMITS, text))
            return
        self._asked[asked.call] = asked
        self.news.append(asked)

    def _cancelled(self, call: int) -> None:
        asked = self._asked.pop(call, None)
        if asked is not None:
            asked.cancelled.set()
            self.when_cancelled(asked)

    def _opened(self, notice: Notice) -> None:
        id = read(uuid.UUID, notice.get("connection"), "connection")
        device, app, service, caller = (
            read(str, notice.get(key, ""), key) for key in ("device", "app", "service", "caller"))
        self.connections[id] = connection = self._make(id, device, app, service, caller)
        self.news.append(ConnectionOpened(connection))

    def _ended(self, id: uuid.UUID, reason: CloseReason) -> None:
        connection = self.connections.pop(id, None)
        if connection is not None:
            connection.closed = reason
            self.news.append(ConnectionEnded(connection, reason))
