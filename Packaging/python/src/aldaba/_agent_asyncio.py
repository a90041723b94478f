"""A client of the agent for asyncio: one task reads, one writes, another calls the app's handlers."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from types import TracebackType
from typing import Any, TypeVar

from aldaba._agent_blocking import CLOSING_SECONDS, WELCOME_SECONDS
from aldaba._agent_activity_store import Reader
from aldaba._agent_calls import Call
from aldaba._agent_codec import MalformedMessage
from aldaba._agent_events import Event
from aldaba._agent_handlers import logger, no_agent, no_welcome
from aldaba._agent_protocol import AgentProtocol
from aldaba._agent_session import Waiter
from aldaba._agent_values import AgentError, Welcome

Value = TypeVar("Value")
Client = TypeVar("Client", bound="AsyncClient")
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class AsyncClient:
    """The shell around an `AgentProtocol`, used in one event loop alone."""

    def __init__(self, protocol: AgentProtocol, path: str) -> None:
        self._protocol = protocol
        self._path = path
        self._is_closing = False
        self._running: asyncio.Task[None] | None = None
        self._dispatching: asyncio.Task[None] | None = None
        self._handling: asyncio.Task[Any] | None = None
        # Set when events may wait, and when bytes may have to be written; both are made in the loop.
        self._changes: set[asyncio.Event] = set()
        self._writable: asyncio.Event | None = None

    def _dispatched(self) -> set[type]:
        """The types of events that `_handle` takes now."""
        raise NotImplementedError

    async def _handle(self, event: Event) -> None:
        """Has the app handle an event."""
        raise NotImplementedError

    async def __aenter__(self: Client) -> Client:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # Connecting and closing

    async def connect(self) -> Welcome:
        """Connects to the agent. From now on the client connects again by itself, until it is closed or refused.

        Raises `AgentError` where no agent listens, and where the agent refuses the app.
        """
        if self._running is not None or self._is_closing:
            raise RuntimeError("a client connects once; make another one")
        try:
            streams = await asyncio.open_unix_connection(self._path)
        except OSError as fault:
            raise no_agent(self._path, fault) from None
        welcomed: asyncio.Future[Welcome] = asyncio.get_running_loop().create_future()
        self._protocol.connecting = welcomed
        self._running = asyncio.create_task(self._run(streams), name="aldaba-agent")
        self._dispatching = asyncio.create_task(self._dispatch(), name="aldaba-handlers")
        self._dispatching.add_done_callback(lambda _: self._tell())
        try:
            return await asyncio.wait_for(welcomed, WELCOME_SECONDS)
        except asyncio.TimeoutError:
            await self.close()
            raise no_welcome(self._path, WELCOME_SECONDS) from None
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Ends the connection, after the handler that runs, if any.

        A second call does nothing. A handler may await it.
        """
        self._is_closing = True
        self._tell()
        if asyncio.current_task() is self._handling is not None:
            return
        # The handler may have an answer, so its task ends first.
        for task in (self._dispatching, self._running):
            if task is not None:
                await asyncio.wait([task], timeout=CLOSING_SECONDS)
                await _end(task)
        self._release()

    def _release(self) -> None:
        self._protocol.close(AgentError("closed", "The client was closed."))
        self._tell()

    def _tell(self) -> None:
        """Something of the protocol has changed: events may wait, and bytes."""
        for change in self._changes:
            change.set()
        if self._writable is not None:
            self._writable.set()

    # The tasks that read and write

    async def _run(self, streams: Streams | None) -> None:
        try:
            await self._serve_all(streams)
        finally:
            self._release()

    async def _serve_all(self, streams: Streams | None) -> None:
        while True:
            began = time.monotonic()
            if streams is not None:
                await self._serve(*streams)
            pause = self._protocol.disconnected(time.monotonic() - began)
            self._tell()
            if pause is None or self._is_closing:
                return
            await self._wait_for_closing(pause)
            if self._is_closing:
                return
            try:
                streams = await asyncio.open_unix_connection(self._path)
            except OSError:
                streams = None

    async def _wait_for_closing(self, seconds: float) -> None:
        limit = time.monotonic() + seconds
        change = asyncio.Event()
        self._changes.add(change)
        try:
            while not self._is_closing and (left := limit - time.monotonic()) > 0:
                change.clear()
                await _within(left, change.wait())
        finally:
            self._changes.discard(change)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Reads and writes until the connection ends."""
        self._protocol.connected()
        self._writable = asyncio.Event()
        self._writable.set()
        parts = (self._read(reader), self._write(writer, self._writable), self._wait_for_welcome())
        tasks = [asyncio.create_task(part) for part in parts]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                await _end(task)
            if not self._is_closing:
                writer.transport.abort()  # What is not written is sent again on the next connection.
            writer.close()
            try:
                await asyncio.wait_for(writer.wait_closed(), CLOSING_SECONDS)
            except asyncio.TimeoutError:
                writer.transport.abort()
            except OSError:
                pass
        for fault in [task.exception() for task in tasks if not task.cancelled()]:
            if isinstance(fault, MalformedMessage):
                logger.warning("the agent sent what cannot be read, and is connected again: %s", fault)
            elif isinstance(fault, OSError):
                logger.debug("the connection to the agent has ended: %s", fault)
            elif fault is not None:
                logger.error("the connection to the agent failed, and is made again", exc_info=fault)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while piece := await reader.read(1 << 16):
            self._protocol.received(piece)
            self._tell()
            if self._protocol.should_leave(is_written=False):
                return

    async def _write(self, writer: asyncio.StreamWriter, writable: asyncio.Event) -> None:
        while True:
            await writable.wait()
            writable.clear()
            while output := self._protocol.output():
                writer.write(output)
                await writer.drain()
            is_handling = self._dispatching is not None and not self._dispatching.done()
            is_over = self._protocol.closed is not None or (self._is_closing and not is_handling)
            if is_over or self._protocol.should_leave(is_written=True):
                return

    async def _wait_for_welcome(self) -> None:
        await asyncio.sleep(WELCOME_SECONDS)
        if self._protocol.is_connected:
            await asyncio.get_running_loop().create_future()

    # The task of the handlers

    async def _dispatch(self) -> None:
        while (event := await self._next(self._dispatched, None)) is not None:
            try:
                await self._handle(event)
            except asyncio.CancelledError:
                raise
            except BaseException:
                logger.exception("an event of the agent was not handled: %s", type(event).__name__)

    async def _next(self, wanted: Callable[[], set[type]], timeout: float | None) -> Event | None:
        """The next event of these types; `None` when the client ends, or the time is over."""
        return await self._taken(lambda: self._protocol.events.take(wanted()), timeout)

    async def _taken(self, take: Callable[[], Value], timeout: float | None) -> Value | None:
        """What `take` returns at last; `None` when the client ends, or the time is over."""
        limit = None if timeout is None else time.monotonic() + timeout
        change = asyncio.Event()
        self._changes.add(change)
        try:
            while not self._is_closing:
                change.clear()
                found = take()
                left = None if limit is None else limit - time.monotonic()
                if found is not None or self._protocol.closed is not None or (left is not None and left <= 0):
                    return found
                await _within(left, change.wait())
            return None
        finally:
            self._changes.discard(change)

    async def _called(self, handler: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a handler, in a task of its own: one that cancels itself does not cancel the dispatch."""
        async def call() -> Any:
            result = handler(*arguments)
            return await result if inspect.isawaitable(result) else result

        self._handling = task = asyncio.create_task(call())
        try:
            await asyncio.wait([task])
        finally:
            self._handling = None
            task.cancel()
        if task.cancelled():
            raise RuntimeError("the handler was cancelled")
        return task.result()

    def _did(self, action: Callable[[], None]) -> None:
        """Does something with the protocol, and writes what follows."""
        action()
        self._tell()

    # What the app asks

    async def _ask(self, call: Call[Value]) -> Value:
        return await self._answer(lambda waiter: self._protocol.ask(call, waiter))

    async def _answer(self, ask: Callable[[Waiter[Value]], int]) -> Value:
        """The answer to a request.

        A request whose task is cancelled is not sent again, though it may have an effect.
        """
        if self._running is None:
            raise RuntimeError("the client is not connected: use `async with`, or await `connect`")
        waiter: asyncio.Future[Value] = asyncio.get_running_loop().create_future()
        number = ask(waiter)
        self._tell()
        try:
            return await waiter
        finally:
            self._protocol.forget(number)

    async def _stream(
        self, kind: type[Event], value: Callable[[Any], Value], timeout: float | None
    ) -> AsyncIterator[Value]:
        """The values of the events of a type. One counts as handled when the next is asked for, or the loop is left."""
        while (event := await self._next(lambda: {kind}, timeout)) is not None:
            try:
                yield value(event)
            finally:
                self._finish(event)
        self._raise_end()

    async def _follow(self, reader: Reader[Value], timeout: float | None) -> AsyncIterator[Value]:
        """The values that a reader finds, until it is over."""
        while (found := await self._taken(reader.take, timeout)) is not None:
            if not found:
                return
            for value in found:
                yield value
        self._raise_end()

    def _raise_end(self) -> None:
        """Raises the failure by which the agent has ended the client, if it has."""
        if self._protocol.closed is not None and not self._is_closing:
            raise self._protocol.closed

    def _finish(self, event: Event) -> None:
        self._did(lambda: self._protocol.handled(event))


async def _within(seconds: float | None, waited: Coroutine[Any, Any, Any]) -> None:
    """Waits, for some seconds at most."""
    try:
        await asyncio.wait_for(waited, seconds)
    except asyncio.TimeoutError:
        pass


async def _end(task: asyncio.Task[None]) -> None:
    """Cancels a task that runs, and waits for its end."""
    if not task.done():
        task.cancel()
        await asyncio.wait([task])
