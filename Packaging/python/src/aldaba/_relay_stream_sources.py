"""What the streams of both shells have in common: their offer, their source, and how they fail."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Callable
from typing import Any, BinaryIO, Union

from aldaba import _relay_requests as requests
from aldaba._agent_handlers import logger
from aldaba._relay_requests import Order
from aldaba._relay_streams import PIECE, Giving, StreamError, Taking, Turn
from aldaba._relay_types import Device, RelayError, ServiceFailure, Status
from aldaba._relay_values import Message, MessageFault

LARGEST = 1 << 60
LONGEST = 3600.0
NO_STREAMS = "the app takes no streams here"

Source = Union[bytes, "os.PathLike[str]", BinaryIO]
Read = Callable[[int, int], bytes]


def offer(
    device: Device | str, app: str, service: str, name: str, size: int, seconds: float,
    command: uuid.UUID | str | None
) -> Order[None]:
    """The command that offers a stream; its id is the stream's."""
    if not isinstance(size, int) or not 0 <= size <= LARGEST:
        raise MessageFault(f"a stream has 0 to {LARGEST} bytes, not {size}")
    order: Message = {
        "type": "stream", "name": requests.text("the stream's name", name, 255), "size": size, "modified": 0,
        "app": requests.text("the app", app, 1024), "service": requests.text("the service", service, 1024)}
    return requests._command(order, requests.device_id(device), seconds, command, requests._nothing)


def resumed(turn: Turn, size: int, read_part: Read) -> tuple[int, Any]:
    """Where a source that can be read again goes on: the offset, and the digest of what is before it."""
    digest, offset = hashlib.sha256(), 0
    while offset < turn.offset:
        part = read_part(offset, min(PIECE, turn.offset - offset))
        digest.update(part)
        offset += len(part)
    # Where the receiver has as many bytes, it compares the digest of the whole, and asks from 0 on if it must.
    if turn.offset < size and turn.offset > 0 and digest.digest() != turn.prefix:
        return 0, hashlib.sha256()
    return offset, digest


def opened_source(source: Source) -> tuple[int, Read, Callable[[], None]]:
    """The size of a source, how a part of it is read, and how it is closed."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
        return len(data), lambda offset, count: data[offset:offset + count], lambda: None
    file = open(source, "rb") if isinstance(source, (str, os.PathLike)) else source
    if not file.seekable():
        raise ValueError("the source cannot be read again from a place: write what it has to `streams.open`")

    def part(offset: int, count: int) -> bytes:
        file.seek(offset)
        found = file.read(count)
        if not found:
            raise EOFError(f"the source ends at {offset}, earlier than before")
        return found

    return file.seek(0, os.SEEK_END), part, (file.close if file is not source else lambda: None)


def failed(stream: Taking, fault: Exception) -> None:
    """A handler has failed; the sender gets the text of a failure that is meant for it."""
    # An own failure of the stream was told by whatever has ended it.
    if not isinstance(fault, (ServiceFailure, StreamError)):
        logger.error("the handler of a stream of the device %s failed", stream.device, exc_info=fault)
    if isinstance(fault, ServiceFailure):
        stream._leave(Status.FAILED, str(fault))


def within_size(stream: Giving, data: bytes) -> memoryview:
    left = memoryview(data).cast("B")
    if len(left) > stream.size - stream.given:
        raise ValueError(f"the stream has {stream.size} bytes, and {stream.given + len(left)} would be written")
    return left


def check_whole(stream: Giving) -> None:
    if stream.given < stream.size and not stream.done():
        raise ValueError(f"the stream has {stream.size} bytes, and only {stream.given} were written")


def ended_early() -> RelayError:
    return RelayError(Status.FAILED, "the receiver has ended the stream before all was written")


def client_closed() -> RelayError:
    return RelayError(Status.CANCELLED, "the client was closed")
