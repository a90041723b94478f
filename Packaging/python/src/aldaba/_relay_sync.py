"""`Relay`: an app that relays to a person's other devices, for scripts and for programs with threads."""

from __future__ import annotations

import concurrent.futures
import uuid
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from types import TracebackType
from typing import Any, TypeVar, Union, cast

from aldaba import _relay_requests as requests
from aldaba._agent_blocking import BlockingClient
from aldaba._agent_handlers import app_id, default_path, logger
from aldaba._agent_session import Waiter
from aldaba._agent_values import Welcome
from aldaba._relay_documents import Documents
from aldaba._relay_handlers import CommandId, Offers, answer_to, claim, log_fault, release
from aldaba._relay_requests import Order
from aldaba._relay_session import News, RelaySession
from aldaba._relay_stream_sync import IncomingStream, Streams
from aldaba._relay_types import (
    Change, ChangeKind, ConnectionEnded, ConnectionOpened, Device, DeviceFilter, Launch, Life, Question, RelayEnd,
    RelayError, Status)
from aldaba._relay_values import DEFAULT_LIMIT, Message
from aldaba._relay_watch import Watch, gather

Value = TypeVar("Value")
Answer = Union[Message, None]


class Connection(RelayEnd):
    """A connection to an app on another device, over which both ends ask. Questions arrive in their order."""

    def __init__(
        self, relay: Relay, id: uuid.UUID, device: str, app: str, service: str, caller: str | None = None
    ) -> None:
        super().__init__(id, device, app, service, caller)
        self._relay = relay

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def send(
        self, message: Message, *, timeout: float = 30.0, command: CommandId = None, limit: int = DEFAULT_LIMIT
    ) -> dict[str, Any]:
        """Asks the other end, and returns its answer."""
        if self.closed is not None:
            raise RelayError(Status.CONNECTION_CLOSED, f"the connection has ended ({self.closed.value})")
        return self._relay._order(requests.send(self.id, message, timeout, command, limit))

    def close(self) -> None:
        """Ends the connection; the other end is told. A second call does nothing."""
        self._relay._did(lambda: self._relay._session.close_connection(self.id))

    def on_question(self, handler: Callable[[Question], Answer]) -> Callable[[Question], Answer]:
        """Answers the questions of the other end, in place of the handler of the service."""
        self._on_question = self._relay._checked(handler)
        return handler

    def on_closed(self, handler: Callable[[Connection], None]) -> Callable[[Connection], None]:
        """Is called when the connection ends otherwise than by `close`; `closed` says why."""
        self._on_closed = self._relay._checked(handler)
        return handler


class Relay(BlockingClient, Offers[Connection, IncomingStream, Answer, Union[bool, None], None]):
    """A client of the agent by which an app asks the apps of a person's other devices, and answers them.

    Handlers are called in a thread of the client's own, one at a time and in the order of the questions; they may use
    the methods. With `workers` above 1 so many are called at a time, in any order.
    """

    def __init__(
        self, app: str | None = None, *, secret: str | None = None, path: str | None = None,
        attributes: Mapping[str, str] | None = None, workers: int = 1
    ) -> None:
        """Makes a client that is not connected. `app`, `secret` and `path` are as for `Agent`."""
        Offers.__init__(self, attributes)

        def make(*ends: Any) -> Connection:
            return Connection(self, *ends)

        self._session = RelaySession(app_id(app), secret=secret and secret.strip(), make=make)
        BlockingClient.__init__(self, self._session, path or default_path())
        self.documents = Documents(self)
        self.streams = Streams(self)
        self._pool = concurrent.futures.ThreadPoolExecutor(workers, "aldaba-relay") if workers > 1 else None

    def close(self) -> None:
        """Ends the connection, after the handlers that run; what is under way is taken back.

        A second call does nothing. A handler may call it.
        """
        with self._changed:
            self._session.is_ending = True
        super().close()

    def _release(self) -> None:
        super()._release()
        release(self)

    @property
    def is_connected(self) -> bool:
        """Whether the agent has welcomed the app on a connection that is open."""
        return self._session.is_connected

    def connect(self) -> Welcome:
        """Connects to the agent, and publishes what has handlers by then."""
        claim(self, self._path, self._session.app)
        try:
            welcome = super().connect()
        except BaseException:
            if self._session.closed is not None or not self._threads:
                release(self)
            raise
        try:
            self.publish()
        except BaseException:
            self.close()
            raise
        return welcome

    def publish(self) -> None:
        """Publishes the services, schemes and attributes anew: for those that were named after `connect`."""
        offer = self._offer()
        if offer is not None:
            with self._changed:
                self._session.offer = offer.request
            self._order(offer)

    # Devices

    def devices(self, filters: Iterable[DeviceFilter] = (), *, timeout: float = 10.0) -> list[Device]:
        """The person's other devices.

        Raises `RelayError` where they cannot be found now.
        """
        found: dict[str, Device] = {}
        with closing(self.watch(filters, timeout=timeout)) as changes:
            for change in changes:
                if change.kind is ChangeKind.COMPLETED:
                    return list(found.values())
                gather(found, change)
        raise RelayError(Status.NETWORK_UNAVAILABLE, f"the agent has not told the devices within {timeout:g} s")

    def watch(
        self, filters: Iterable[DeviceFilter] = (), *, timeout: float | None = None
    ) -> Generator[Change, None, None]:
        """Tells devices as they come, change and go: those that exist first, then `ChangeKind.COMPLETED`, then changes.

        A device is told that passes any of the filters, or each where there is none. Ends when the client is closed, or
        nothing was told for `timeout` seconds.
        """
        watch = Watch(filters)
        self._did(lambda: self._session.watch(watch))
        try:
            while (change := self._taken(watch.take, timeout)) is not None:
                yield change
        finally:
            self._did(lambda: self._session.unwatch(watch))
        self._raise_end()

    def find(self, device: str) -> Device:
        """A device by its id: the person's own, or another person's that offers something to anyone."""
        return self._order(requests.find(device))

    # Commands

    def launch(
        self, device: Device | str, uri: str, *, app: str | None = None, fallback: str | None = None,
        input: Message | None = None, timeout: float = 30.0, command: CommandId = None
    ) -> None:
        """Opens an address on a device; an app there that opens it gets `input` too.

        `fallback` is an https page that is opened where the address certainly could not be.
        """
        self._order(requests.launch(device, uri, app, fallback, input, timeout, command))

    def call(
        self, device: Device | str, app: str, service: str, message: Message, *, timeout: float = 30.0,
        command: CommandId = None, limit: int = DEFAULT_LIMIT, wait: bool = False
    ) -> dict[str, Any]:
        """Asks a service of an app on a device, and returns its answer.

        `command` is the id under which a repetition is carried out once. `limit` is the size of the message, at most
        256 KiB. With `wait` the server keeps the call for a device that is away, for five minutes at most. Whatever
        ends the waiting, such as Ctrl-C, takes the call back.
        """
        return self._order(requests.call(device, app, service, message, timeout, command, limit, wait))

    def tell(
        self, device: Device | str, app: str, service: str, message: Message, *, ttl: float = 86_400.0,
        command: CommandId = None, limit: int = DEFAULT_LIMIT
    ) -> uuid.UUID:
        """Sends a message without an answer, which the server keeps for a device that is away, `ttl` seconds long.

        Returns the command's id once the server has it, for `life` and `cancel`.
        """
        return self._order(requests.tell(device, app, service, message, ttl, command, limit))

    def open(
        self, device: Device | str, app: str, service: str, *, timeout: float = 10.0,
        on_question: Callable[[Question], Answer] | None = None,
        on_closed: Callable[[Connection], None] | None = None
    ) -> Connection:
        """Opens a connection to a service, over which the other end may ask, too."""
        id = uuid.uuid4()
        order = requests.open_connection(device, app, service, timeout, id)
        connection = Connection(self, id, requests.device_id(device), app, service)
        if on_question is not None:
            connection.on_question(on_question)
        if on_closed is not None:
            connection.on_closed(on_closed)
        with self._changed:
            # Its first question may come before the answer is here.
            self._session.connections[id] = connection
        try:
            self._order(order)
        except BaseException:
            with self._changed:
                self._session.connections.pop(id, None)
            raise
        return connection

    @property
    def connections(self) -> dict[uuid.UUID, Connection]:
        """The connections that are open, by their ids."""
        with self._changed:
            return cast("dict[uuid.UUID, Connection]", dict(self._session.connections))

    def life(self, command: uuid.UUID | str) -> Life:
        """Where a command of the last day stands, and how it ended."""
        return self._order(requests.life(command))

    def cancel(self, command: uuid.UUID | str) -> bool:
        """Takes a command of this client back, here and at its target. False where it is not under way."""
        return self._order(requests.cancel(command))

    def _order(self, order: Order[Value]) -> Value:
        def ask(waiter: Waiter[Value]) -> int:
            return self._session.order(order, waiter)

        try:
            return self._answer(ask, order.seconds)
        except TimeoutError:
            raise requests.no_answer(order) from None
        finally:
            self._wake()

    # What other devices ask

    def _dispatch(self) -> None:
        while (told := self._taken(self._session.next_news, None)) is not None:
            news = told[0]
            if self._pool is not None and isinstance(news, (Question, Launch)):
                self._pool.submit(self._take, news)
            else:
                self._take(news)
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        closed = self._session.closed
        if closed is not None and not self._is_closing.is_set():
            logger.warning("the agent has ended this client: %s", closed)
            self._guarded(self._end_handler, closed)
        self._handlers_have_ended.set()
        self._wake()

    def _take(self, news: News) -> None:
        if isinstance(news, ConnectionOpened):
            self._guarded(self._connection_handler, news.connection)
        elif isinstance(news, ConnectionEnded):
            self._guarded(news.connection._on_closed, news.connection)
        elif isinstance(news, IncomingStream):
            self.streams._came(news, self._stream_handler(news.service))
        elif isinstance(news, (Question, Launch)) and not news.cancelled.is_set():
            answer = self._answer_of(news)
            self._did(lambda: self._session.answer(news, answer))

    def _answer_of(self, asked: Question | Launch) -> Message:
        try:
            if isinstance(asked, Launch):
                handler = self._opening(asked)
            else:
                handler = self._answering(asked, self.connections.get(asked.connection) if asked.connection else None)
            return answer_to(asked, handler(asked)) if callable(handler) else handler
        except Exception as fault:
            log_fault(asked, fault)
            return requests.failure_of(asked.call, fault)

    def _guarded(self, handler: Callable[..., Any] | None, *arguments: Any) -> None:
        try:
            if handler is not None:
                handler(*arguments)
        except Exception:
            logger.exception("the handler %r failed", handler)
