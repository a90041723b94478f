"""Streams of bytes between two apps, for scripts and threads."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Generator, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from aldaba._relay_handlers import CommandId
from aldaba._relay_stream_sources import (
    LONGEST, NO_STREAMS, Read, Source, check_whole, client_closed, ended_early, failed, offer, opened_source,
    resumed, within_size)
from aldaba._relay_streams import PIECE, Giving, StreamEnd, StreamError, Taking
from aldaba._relay_types import Device, Status

if TYPE_CHECKING:
    from aldaba._relay_sync import Relay


class IncomingStream(Taking):
    """A stream that another device sends: an iterator of its bytes, which raises `StreamError` where it is cut off.

    The sender is told of success when the iterator has ended, and of a failure where it is left before.
    """

    def __init__(self, relay: Relay, *parts: Any) -> None:
        super().__init__(*parts)
        self._relay = relay

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces()

    def _pieces(self) -> Generator[bytes, None, None]:
        self._relay._did(self._begin)
        try:
            while found := self._relay._taken(self._next, None):
                self._relay._wake()
                yield found[0]
            if found is None:
                raise StreamError(StreamEnd.LOST)
        finally:
            self.cancel()

    def refuse(self, detail: str) -> None:
        """Refuses the stream; the sender gets the first 4,096 bytes of the reason."""
        self._relay._did(lambda: self._leave(Status.DENIED, detail))

    def cancel(self) -> None:
        """Reads no further; the sender is told. Nothing happens where the stream has ended."""
        self._relay._did(self._leave)


class OutgoingStream(Giving):
    """A stream to another device. `write` waits until the receiver asks for more; the end of `with` awaits its answer.

    An exception inside `with` takes the stream back.
    """

    def __init__(self, relay: Relay, id: uuid.UUID, size: int) -> None:
        super().__init__(id, size)
        self._relay, self._number = relay, 0

    def __enter__(self) -> OutgoingStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self.cancel()

    def write(self, data: bytes) -> None:
        """Sends bytes, and waits as long as the receiver has not asked for them. Raises `RelayError`."""
        left = within_size(self, data)
        while left:
            if self._wait():
                raise ended_early()
            with self._relay._changed:
                self._begin_forward()
                count = self._give(left)
            self._relay._wake()
            left = left[count:]

    def finish(self) -> None:
        """Waits until the receiver has all of it, and its digest is that of what was sent. Raises `RelayError`."""
        try:
            check_whole(self)
            while not self._wait():
                with self._relay._changed:
                    self._begin_forward()
                    self._give(b"")
                self._relay._wake()
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Takes the stream back, here and at the receiver. Nothing happens where it has ended."""
        self._relay._did(lambda: self._relay._session.streams.end(self, self._number))

    def _wait(self) -> bool:
        if self._relay._taken(self._ready, None) is None:
            raise client_closed()
        return self._check()

    def _send(self, read: Read) -> None:
        try:
            while not self._wait():
                turn, offset, most = self._turn, self.given, self._asked - self.given
                if turn is not None:
                    start, digest = resumed(turn, self.size, read)
                    self._relay._did(lambda: self._begin(turn, start, digest))
                    continue
                piece = read(offset, min(most, PIECE)) if most > 0 else b""
                with self._relay._changed:
                    self._give(piece)
                self._relay._wake()
        finally:
            self.cancel()


class Streams:
    """`relay.streams`: streams of bytes to services of apps on other devices."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        relay._session.streams.make = lambda *parts: IncomingStream(relay, *parts)
        relay._session.streams.when_written = relay._changed.notify_all

    def open(
        self, device: Device | str, app: str, service: str, size: int, *, name: str = "", timeout: float = LONGEST,
        command: CommandId = None
    ) -> OutgoingStream:
        """Offers a stream of `size` bytes, which are to be written. Used with `with`."""
        order = offer(device, app, service, name, size, timeout, command)
        assert order.command is not None
        stream = OutgoingStream(self._relay, order.command, size)
        if not self._relay._threads:
            raise RuntimeError("the client is not connected: use `with`, or call `connect`")
        with self._relay._changed:
            stream._number = self._relay._session.streams.begin(order, stream)
        self._relay._wake()
        return stream

    def send(
        self, device: Device | str, app: str, service: str, source: Source, *, name: str = "",
        timeout: float = LONGEST, command: CommandId = None
    ) -> None:
        """Sends bytes, or a file, and returns when the receiver has them. What it has already is not sent again."""
        size, read, close = opened_source(source)
        try:
            self.open(device, app, service, size, name=name, timeout=timeout, command=command)._send(read)
        finally:
            close()

    def _came(self, stream: IncomingStream, handler: Callable[..., Any] | None) -> None:
        """Has a handler take a stream, in a thread of its own: it reads for long."""
        def take() -> None:
            try:
                if handler is not None:
                    handler(stream)
            except Exception as fault:
                with self._relay._changed:
                    failed(stream, fault)
            stream.cancel()

        if handler is None:
            stream.refuse(NO_STREAMS)
        else:
            threading.Thread(target=take, name="aldaba-stream", daemon=True).start()
