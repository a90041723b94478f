"""`AsyncRelay`: an app that relays to a person's other devices, for programs with asyncio."""

from __future__ import annotations

import asyncio
import inspect
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Any, TypeVar, Union, cast

from aldaba import _relay_requests as requests
from aldaba._agent_asyncio import AsyncClient
from aldaba._agent_blocking import CLOSING_SECONDS
from aldaba._agent_handlers import app_id, default_path, logger
from aldaba._agent_session import Waiter
from aldaba._agent_values import Welcome
from aldaba._relay_documents import AsyncDocuments
from aldaba._relay_handlers import CommandId, Offers, answer_to, claim, log_fault, release
from aldaba._relay_requests import Order
from aldaba._relay_session import RelaySession
from aldaba._relay_stream_async import AsyncIncomingStream, AsyncStreams
from aldaba._relay_types import (
    Change, ChangeKind, ConnectionEnded, ConnectionOpened, Device, DeviceFilter, Launch, Life, Question, RelayEnd,
    RelayError, Status)
from aldaba._relay_values import DEFAULT_LIMIT, Message
from aldaba._relay_watch import Watch, gather

Value = TypeVar("Value")
Answer = Union[Message, None, Awaitable[Union[Message, None]]]
Opened = Union[bool, None, Awaitable[Union[bool, None]]]
Nothing = Union[None, Awaitable[None]]


class AsyncConnection(RelayEnd):
    """A connection to an app on another device, over which both ends ask. Questions arrive in their order."""

    def __init__(
        self, relay: AsyncRelay, id: uuid.UUID, device: str, app: str, service: str, caller: str | None = None
    ) -> None:
        super().__init__(id, device, app, service, caller)
        self._relay = relay

    async def __aenter__(self) -> AsyncConnection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def send(
        self, message: Message, *, timeout: float = 30.0, command: CommandId = None, limit: int = DEFAULT_LIMIT
    ) -> dict[str, Any]:
        """Asks the other end, and returns its answer."""
        if self.closed is not None:
            raise RelayError(Status.CONNECTION_CLOSED, f"the connection has ended ({self.closed.value})")
        return await self._relay._order(requests.send(self.id, message, timeout, command, limit))

    async def close(self) -> None:
        """Ends the connection; the other end is told. A second call does nothing."""
        self._relay._did(lambda: self._relay._session.close_connection(self.id))

    def on_question(self, handler: Callable[[Question], Answer]) -> Callable[[Question], Answer]:
        """Answers the questions of the other end, in place of the handler of the service."""
        self._on_question = self._relay._checked(handler)
        return handler

    def on_closed(self, handler: Callable[[AsyncConnection], Nothing]) -> Callable[[AsyncConnection], Nothing]:
        """Is called when the connection ends otherwise than by `close`; `closed` says why."""
        self._on_closed = self._relay._checked(handler)
        return handler


class AsyncRelay(AsyncClient, Offers[AsyncConnection, AsyncIncomingStream, Answer, Opened, Nothing]):
    """A client of the agent by which an app asks the apps of a person's other devices, and answers them.

    Its methods are those of `Relay`, to be awaited. Handlers may be asynchronous. Each question is answered in a task
    of its own, which begins in the order of the questions, and is cancelled when nobody waits for the answer any more.
    """

    _takes_coroutines = True

    def __init__(
        self, app: str | None = None, *, secret: str | None = None, path: str | None = None,
        attributes: Mapping[str, str] | None = None
    ) -> None:
        """Makes a client that is not connected. `app`, `secret` and `path` are as for `Agent`."""
        Offers.__init__(self, attributes)

        def make(*ends: Any) -> AsyncConnection:
            return AsyncConnection(self, *ends)

        self._session = RelaySession(app_id(app), secret=secret and secret.strip(), make=make)
        AsyncClient.__init__(self, self._session, path or default_path())
        self.documents = AsyncDocuments(self)
        self.streams = AsyncStreams(self)
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._session.when_cancelled = self._cancel_task

    async def close(self) -> None:
        """Ends the connection, after the handlers that run; what is under way is taken back.

        A second call does nothing. A handler may await it.
        """
        self._session.is_ending = True
        running = set(self._tasks.values()) - {asyncio.current_task()}
        if running:
            _, late = await asyncio.wait(running, timeout=CLOSING_SECONDS)
            for task in late:
                task.cancel()
        await super().close()

    def _release(self) -> None:
        super()._release()
        release(self)

    @property
    def is_connected(self) -> bool:
        """Whether the agent has welcomed the app on a connection that is open."""
        return self._session.is_connected

    async def connect(self) -> Welcome:
        """Connects to the agent, and publishes what has handlers by then."""
        claim(self, self._path, self._session.app)
        try:
            welcome = await super().connect()
        except BaseException:
            if self._session.closed is not None or self._running is None:
                release(self)
            raise
        try:
            await self.publish()
        except BaseException:
            await self.close()
            raise
        return welcome

    async def publish(self) -> None:
        """Publishes the services, schemes and attributes anew: for those that were named after `connect`."""
        offer = self._offer()
        if offer is not None:
            self._session.offer = offer.request
            await self._order(offer)

    # Devices

    async def devices(self, filters: Iterable[DeviceFilter] = (), *, timeout: float = 10.0) -> list[Device]:
        """The person's other devices.

        Raises `RelayError` where they cannot be found now.
        """
        found: dict[str, Device] = {}
        async with aclosing(self.watch(filters, timeout=timeout)) as changes:
            async for change in changes:
                if change.kind is ChangeKind.COMPLETED:
                    return list(found.values())
                gather(found, change)
        raise RelayError(Status.NETWORK_UNAVAILABLE, f"the agent has not told the devices within {timeout:g} s")

    async def watch(
        self, filters: Iterable[DeviceFilter] = (), *, timeout: float | None = None
    ) -> AsyncGenerator[Change, None]:
        """Tells devices as they come, change and go: those that exist first, then `ChangeKind.COMPLETED`, then changes.

        A device is told that passes any of the filters, or each where there is none. Ends when the client is closed, or
        nothing was told for `timeout` seconds.
        """
        watch = Watch(filters)
        self._did(lambda: self._session.watch(watch))
        try:
            while (change := await self._taken(watch.take, timeout)) is not None:
                yield change
        finally:
            self._did(lambda: self._session.unwatch(watch))
        self._raise_end()

    async def find(self, device: str) -> Device:
        """A device by its id: the person's own, or another person's that offers something to anyone."""
        return await self._order(requests.find(device))

    # Commands

    async def launch(
        self, device: Device | str, uri: str, *, app: str | None = None, fallback: str | None = None,
        input: Message | None = None, timeout: float = 30.0, command: CommandId = None
    ) -> None:
        """Opens an address on a device; an app there that opens it gets `input` too.

        `fallback` is an https page that is opened where the address certainly could not be.
        """
        await self._order(requests.launch(device, uri, app, fallback, input, timeout, command))

    async def call(
        self, device: Device | str, app: str, service: str, message: Message, *, timeout: float = 30.0,
        command: CommandId = None, limit: int = DEFAULT_LIMIT, wait: bool = False
    ) -> dict[str, Any]:
        """Asks a service of an app on a device, and returns its answer.

        `command` is the id under which a repetition is carried out once. `limit` is the size of the message, at most
        256 KiB. With `wait` the server keeps the call for a device that is away, for five minutes at most. A call
        whose task is cancelled is taken back.
        """
        return await self._order(requests.call(device, app, service, message, timeout, command, limit, wait))

    async def tell(
        self, device: Device | str, app: str, service: str, message: Message, *, ttl: float = 86_400.0,
        command: CommandId = None, limit: int = DEFAULT_LIMIT
    ) -> uuid.UUID:
        """Sends a message without an answer, which the server keeps for a device that is away, `ttl` seconds long.

        Returns the command's id once the server has it, for `life` and `cancel`.
        """
        return await self._order(requests.tell(device, app, service, message, ttl, command, limit))

    async def open(
        self, device: Device | str, app: str, service: str, *, timeout: float = 10.0,
        on_question: Callable[[Question], Answer] | None = None,
        on_closed: Callable[[AsyncConnection], Nothing] | None = None
    ) -> AsyncConnection:
        """Opens a connection to a service, over which the other end may ask, too."""
        id = uuid.uuid4()
        order = requests.open_connection(device, app, service, timeout, id)
        connection = AsyncConnection(self, id, requests.device_id(device), app, service)
        if on_question is not None:
            connection.on_question(on_question)
        if on_closed is not None:
            connection.on_closed(on_closed)
        # Its first question may come before the answer is here.
        self._session.connections[id] = connection
        try:
            await self._order(order)
        except BaseException:
            self._session.connections.pop(id, None)
            raise
        return connection

    @property
    def connections(self) -> dict[uuid.UUID, AsyncConnection]:
        """The connections that are open, by their ids."""
        return cast("dict[uuid.UUID, AsyncConnection]", dict(self._session.connections))

    async def life(self, command: uuid.UUID | str) -> Life:
        """Where a command of the last day stands, and how it ended."""
        return await self._order(requests.life(command))

    async def cancel(self, command: uuid.UUID | str) -> bool:
        """Takes a command of this client back, here and at its target. False where it is not under way."""
        return await self._order(requests.cancel(command))

    async def _order(self, order: Order[Value]) -> Value:
        def ask(waiter: Waiter[Value]) -> int:
            return self._session.order(order, waiter)

        try:
            return await asyncio.wait_for(self._answer(ask), order.seconds)
        except asyncio.TimeoutError:
            raise requests.no_answer(order) from None
        finally:
            self._tell()

    # What other devices ask

    async def _dispatch(self) -> None:
        while (told := await self._taken(self._session.next_news, None)) is not None:
            news = told[0]
            if isinstance(news, ConnectionOpened):
                await self._guarded(self._connection_handler, news.connection)
            elif isinstance(news, ConnectionEnded):
                await self._guarded(news.connection._on_closed, news.connection)
            elif isinstance(news, AsyncIncomingStream):
                self._began(news, self.streams._came(news, self._stream_handler(news.service)))
            elif isinstance(news, (Question, Launch)) and not news.cancelled.is_set() and not self._session.is_ending:
                self._began(news, self._take(news))
        closed = self._session.closed
        if closed is not None and not self._is_closing:
            logger.warning("the agent has ended this client: %s", closed)
            await self._guarded(self._end_handler, closed)

    def _began(self, asked: object, taking: Coroutine[Any, Any, None]) -> None:
        self._tasks[id(asked)] = task = asyncio.create_task(taking)
        task.add_done_callback(lambda _: self._tasks.pop(id(asked), None))

    def _cancel_task(self, asked: Question | Launch) -> None:
        task = self._tasks.get(id(asked))
        if task is not None:
            task.cancel()

    async def _take(self, asked: Question | Launch) -> None:
        answer = await self._answer_of(asked)
        self._did(lambda: self._session.answer(asked, answer))

    async def _answer_of(self, asked: Question | Launch) -> Message:
        try:
            if isinstance(asked, Launch):
                handler = self._opening(asked)
            else:
                handler = self._answering(asked, self.connections.get(asked.connection) if asked.connection else None)
            if not callable(handler):
                return handler
            value = handler(asked)
            return answer_to(asked, await value if inspect.isawaitable(value) else value)
        except Exception as fault:
            log_fault(asked, fault)
            return requests.failure_of(asked.call, fault)

    async def _guarded(self, handler: Callable[..., Any] | None, *arguments: Any) -> None:
        try:
            if handler is not None:
                await self._called(handler, *arguments)
        except Exception:
            logger.exception("the handler %r failed", handler)
