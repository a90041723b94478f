"""A client of the agent for programs with threads: one thread reads and writes, another calls the app's handlers."""

from __future__ import annotations

import concurrent.futures
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, TypeVar

from aldaba._agent_activity_store import Reader
from aldaba._agent_calls import Call
from aldaba._agent_codec import MalformedMessage
from aldaba._agent_events import Event
from aldaba._agent_handlers import logger, no_agent, no_welcome
from aldaba._agent_protocol import AgentProtocol
from aldaba._agent_session import Waiter
from aldaba._agent_values import AgentError, Welcome

WELCOME_SECONDS = 30.0
# How long `close` waits for a handler that runs, and for bytes that are to be written.
CLOSING_SECONDS = 5.0
Value = TypeVar("Value")
Client = TypeVar("Client", bound="BlockingClient")


class BlockingClient:
    """The shell around an `AgentProtocol`, which is used under a lock alone."""

    def __init__(self, protocol: AgentProtocol, path: str) -> None:
        self._protocol = protocol
        self._path = path
        self._changed = threading.Condition()
        # A byte in the second one wakes the thread that waits at the first; both are made by `connect`.
        self._wakers: tuple[socket.socket, socket.socket] | None = None
        self._threads: list[threading.Thread] = []
        self._is_closing = threading.Event()
        self._handlers_have_ended = threading.Event()

    def _dispatched(self) -> set[type]:
        """The types of events that `_handle` takes now."""
        raise NotImplementedError

    def _handle(self, event: Event) -> None:
        """Has the app handle an event, outside the lock."""
        raise NotImplementedError

    def __enter__(self: Client) -> Client:
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Connecting and closing

    def connect(self) -> Welcome:
        """Connects to the agent. From now on the client connects again by itself, until it is closed or refused.

        Raises `AgentError` where no agent listens, and where the agent refuses the app.
        """
        if self._threads or self._is_closing.is_set():
            raise RuntimeError("a client connects once; make another one")
        try:
            connection = self._opened()
        except OSError as fault:
            raise no_agent(self._path, fault) from None
        welcomed: concurrent.futures.Future[Welcome] = concurrent.futures.Future()
        self._protocol.connecting = welcomed
        self._wakers = socket.socketpair()
        for waker in self._wakers:
            waker.setblocking(False)
        self._threads = [
            threading.Thread(target=self._run, args=(connection,), name="aldaba-agent", daemon=True),
            threading.Thread(target=self._dispatch, name="aldaba-handlers", daemon=True)]
        for thread in self._threads:
            thread.start()
        try:
            return welcomed.result(WELCOME_SECONDS)
        except concurrent.futures.TimeoutError:
            self.close()
            raise no_welcome(self._path, WELCOME_SECONDS) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the connection, after the handler that runs, if any.

        A second call does nothing. A handler may call it.
        """
        self._is_closing.set()
        with self._changed:
            self._changed.notify_all()
        self._wake()
        if not self._threads:
            self._release()
        if threading.current_thread() in self._threads:
            return
        # The handler may have an answer, so its thread ends first.
        for thread in reversed(self._threads):
            thread.join(CLOSING_SECONDS + 1)

    def _release(self) -> None:
        with self._changed:
            self._protocol.close(AgentError("closed", "The client was closed."))
            self._changed.notify_all()
            for waker in self._wakers or ():
                waker.close()

    def _wake(self) -> None:
        if self._wakers is not None:
            try:
                self._wakers[1].send(b"\0")
            except OSError:
                pass  # It is awake already, or has ended.

    # The thread that reads and writes

    def _opened(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(WELCOME_SECONDS)
            connection.connect(self._path)
            connection.setblocking(False)
        except OSError:
            connection.close()
            raise
        return connection

    def _run(self, connection: socket.socket | None) -> None:
        try:
            self._serve_all(connection)
        finally:
            self._release()

    def _serve_all(self, connection: socket.socket | None) -> None:
        while True:
            began = time.monotonic()
            if connection is not None:
                self._serve(connection)
            with self._changed:
                pause = self._protocol.disconnected(time.monotonic() - began)
                self._changed.notify_all()
            if pause is None or self._is_closing.wait(pause):
                return
            try:
                connection = self._opened()
            except OSError:
                connection = None

    def _serve(self, connection: socket.socket) -> None:
        """Reads and writes until the connection ends."""
        with self._changed:
            self._protocol.connected()
        with connection, selectors.DefaultSelector() as selector:
            assert self._wakers is not None
            selector.register(self._wakers[0], selectors.EVENT_READ)
            selector.register(connection, selectors.EVENT_READ)
            try:
                self._exchange(connection, selector, self._wakers[0])
            except MalformedMessage as fault:
                logger.warning("the agent sent what cannot be read, and is connected again: %s", fault)
            except OSError as fault:
                logger.debug("the connection to the agent has ended: %s", fault)
            except Exception:
                logger.exception("the connection to the agent failed, and is made again")

    def _exchange(
        self, connection: socket.socket, selector: selectors.BaseSelector, wakened: socket.socket
    ) -> None:
        unwritten = b""
        limit: float | None = time.monotonic() + WELCOME_SECONDS
        while True:
            with self._changed:
                unwritten = unwritten or self._protocol.output()
                should_leave = self._protocol.closed is not None or self._protocol.should_leave(not unwritten)
                if self._protocol.is_connected and not self._is_closing.is_set():
                    limit = None
            if self._is_closing.is_set():
                limit = limit or time.monotonic() + CLOSING_SECONDS
                should_leave = should_leave or (self._handlers_have_ended.is_set() and not unwritten)
            if should_leave or (limit is not None and time.monotonic() >= limit):
                return
            selector.modify(connection, selectors.EVENT_READ | (selectors.EVENT_WRITE if unwritten else 0))
            ready = {key.fileobj: mask for key, mask in selector.select(1.0 if limit is not None else None)}
            if wakened in ready:
                wakened.recv(4096)
            mask = ready.get(connection, 0)
            if mask & selectors.EVENT_WRITE:
                unwritten = unwritten[connection.send(unwritten):]
            if mask & selectors.EVENT_READ and not self._read(connection):
                return

    def _read(self, connection: socket.socket) -> bool:
        piece = connection.recv(1 << 16)
        with self._changed:
            self._protocol.received(piece)
            self._changed.notify_all()
        return bool(piece)

    # The thread of the handlers

    def _dispatch(self) -> None:
        while (event := self._next(self._dispatched, None)) is not None:
            try:
                self._handle(event)
            except BaseException:
                logger.exception("an event of the agent was not handled: %s", type(event).__name__)
        self._handlers_have_ended.set()
        self._wake()

    def _next(self, wanted: Callable[[], set[type]], timeout: float | None) -> Event | None:
        """The next event of these types; `None` when the client ends, or the time is over."""
        return self._taken(lambda: self._protocol.events.take(wanted()), timeout)

    def _taken(self, take: Callable[[], Value], timeout: float | None) -> Value | None:
        """What `take` returns at last; `None` when the client ends, or the time is over."""
        limit = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not self._is_closing.is_set():
                found = take()
                left = None if limit is None else limit - time.monotonic()
                if found is not None or self._protocol.closed is not None or (left is not None and left <= 0):
                    return found
                self._changed.wait(left)
        return None

    def _did(self, action: Callable[[], None]) -> None:
        """Does something with the protocol, and writes what follows."""
        with self._changed:
            action()
        self._wake()

    # What the app asks

    def _ask(self, call: Call[Value], timeout: float | None) -> Value:
        def ask(waiter: Waiter[Value]) -> int:
            return self._protocol.ask(call, waiter)

        return self._answer(ask, timeout)

    def _answer(self, ask: Callable[[Waiter[Value]], int], timeout: float | None) -> Value:
        """The answer to a request.

        Raises `TimeoutError`; the request is not sent again then, though it may have an effect.
        """
        if not self._threads:
            raise RuntimeError("the client is not connected: use `with`, or call `connect`")
        waiter: concurrent.futures.Future[Value] = concurrent.futures.Future()
        with self._changed:
            number = ask(waiter)
        self._wake()
        try:
            return waiter.result(timeout)
        except concurrent.futures.TimeoutError:
            raise TimeoutError(f"the agent has not answered within {timeout:g} s") from None
        finally:
            with self._changed:
                self._protocol.forget(number)

    def _stream(self, kind: type[Event], value: Callable[[Any], Value], timeout: float | None) -> Iterator[Value]:
        """The values of the events of a type. One counts as handled when the next is asked for, or the loop is left."""
        while (event := self._next(lambda: {kind}, timeout)) is not None:
            try:
                yield value(event)
            finally:
                self._finish(event)
        self._raise_end()

    def _follow(self, reader: Reader[Value], timeout: float | None) -> Iterator[Value]:
        """The values that a reader finds, until it is over."""
        while (found := self._taken(reader.take, timeout)) is not None:
            if not found:
                return
            yield from found
        self._raise_end()

    def _raise_end(self) -> None:
        """Raises the failure by which the agent has ended the client, if it has."""
        closed = self._protocol.closed
        if closed is not None and not self._is_closing.is_set():
            raise closed

    def _finish(self, event: Event) -> None:
        self._did(lambda: self._protocol.handled(event))
