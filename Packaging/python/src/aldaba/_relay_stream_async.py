"""Streams of bytes between two apps, for asyncio."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from aldaba._relay_handlers import CommandId
from aldaba._relay_stream_sources import (
    LONGEST, NO_STREAMS, Read, Source, check_whole, client_closed, ended_early, failed, offer, opened_source,
    resumed, within_size)
from aldaba._relay_streams import PIECE, Giving, StreamEnd, StreamError, Taking
from aldaba._relay_types import Device, Status

if TYPE_CHECKING:
    from aldaba._relay_async import AsyncRelay


class AsyncIncomingStream(Taking):
    """`IncomingStream` for asyncio: an asynchronous iterator of its bytes."""

    def __init__(self, relay: AsyncRelay, *parts: Any) -> None:
        super().__init__(*parts)
        self._relay = relay

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces()

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        self._relay._did(self._begin)
        try:
            while found := await self._relay._taken(self._next, None):
                self._relay._tell()
                yield found[0]
            if found is None:
                raise StreamError(StreamEnd.LOST)
        finally:
            await self.cancel()

    async def refuse(self, detail: str) -> None:
        """Refuses the stream; the sender gets the first 4,096 bytes of the reason."""
        self._relay._did(lambda: self._leave(Status.DENIED, detail))

    async def cancel(self) -> None:
        """Reads no further; the sender is told. Nothing happens where the stream has ended."""
        self._relay._did(self._leave)


class AsyncOutgoingStream(Giving):
    """`OutgoingStream` for asyncio."""

    def __init__(self, relay: AsyncRelay, id: uuid.UUID, size: int) -> None:
        super().__init__(id, size)
        self._relay, self._number = relay, 0

    async def __aenter__(self) -> AsyncOutgoingStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            await self.finish()
        else:
            await self.cancel()

    async def write(self, data: bytes) -> None:
        """Sends bytes, and waits as long as the receiver has not asked for them. Raises `RelayError`."""
        left = within_size(self, data)
        while left:
            if await self._wait():
                raise ended_early()
            self._begin_forward()
            left = left[self._give(left):]
            self._relay._tell()

    async def finish(self) -> None:
        """Waits until the receiver has all of it, and its digest is that of what was sent. Raises `RelayError`."""
        try:
            check_whole(self)
            while not await self._wait():
                self._begin_forward()
                self._give(b"")
                self._relay._tell()
        finally:
            await self.cancel()

    async def cancel(self) -> None:
        """Takes the stream back, here and at the receiver. Nothing happens where it has ended."""
        self._relay._did(lambda: self._relay._session.streams.end(self, self._number))

    async def _wait(self) -> bool:
        if await self._relay._taken(self._ready, None) is None:
            raise client_closed()
        return self._check()

    async def _send(self, read: Read) -> None:
        try:
            while not await self._wait():
                turn, most = self._turn, self._asked - self.given
                if turn is not None:
                    self._begin(turn, *await asyncio.to_thread(resumed, turn, self.size, read))
                    continue
                self._give(await asyncio.to_thread(read, self.given, min(most, PIECE)) if most > 0 else b"")
                self._relay._tell()
        finally:
            await self.cancel()


class AsyncStreams:
    """`Streams` for asyncio."""

    def __init__(self, relay: AsyncRelay) -> None:
        self._relay = relay
        relay._session.streams.make = lambda *parts: AsyncIncomingStream(relay, *parts)
        relay._session.streams.when_written = relay._tell

    async def open(
        self, device: Device | str, app: str, service: str, size: int, *, name: str = "", timeout: float = LONGEST,
        command: CommandId = None
    ) -> AsyncOutgoingStream:
        """Offers a stream of `size` bytes, which are to be written. Used with `async with await`."""
        order = offer(device, app, service, name, size, timeout, command)
        assert order.command is not None
        stream = AsyncOutgoingStream(self._relay, order.command, size)
        if self._relay._running is None:
            raise RuntimeError("the client is not connected: use `async with`, or await `connect`")
        stream._number = self._relay._session.streams.begin(order, stream)
        self._relay._tell()
        return stream

    async def send(
        self, device: Device | str, app: str, service: str, source: Source, *, name: str = "",
        timeout: float = LONGEST, command: CommandId = None
    ) -> None:
        """Sends bytes, or a file, and returns when the receiver has them. What it has already is not sent again."""
        size, read, close = opened_source(source)
        try:
            stream = await self.open(device, app, service, size, name=name, timeout=timeout, command=command)
            await stream._send(read)
        finally:
            close()

    async def _came(self, stream: AsyncIncomingStream, handler: Callable[..., Any] | None) -> None:
        if handler is None:
            return await stream.refuse(NO_STREAMS)
        try:
            result = handler(stream)
            if result is not None:
                await result
        except Exception as fault:
            failed(stream, fault)
            self._relay._tell()
        finally:
            await stream.cancel()
