"""The frames of the agent's socket: four bytes of length, the most significant first, and one JSON object."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import NoReturn

from aldaba._agent_codec import MalformedMessage, Message

LONGEST_FRAME = 1 << 20
HEADER = struct.Struct(">I")
RELAY = 0  # The first byte of a packet about relaying; no JSON text begins with it.


def frame(message: Message) -> bytes:
    """The bytes of a message.

    Raises `ValueError` for a value that JSON cannot express, and for a message of more than 1 MiB.
    """
    try:
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        body = text.encode()
    except (TypeError, ValueError, RecursionError) as fault:
        raise ValueError(f"a message cannot be sent: {fault}") from None
    if len(body) > LONGEST_FRAME:
        raise ValueError(f"a message has {len(body)} bytes; at most {LONGEST_FRAME} are allowed")
    return HEADER.pack(len(body)) + body


class FrameDecoder:
    """The messages in the bytes of a connection, which may come in pieces of any length."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def messages(self, piece: bytes) -> Iterator[Message]:
        """The messages that a piece completes. Packets about relaying are left out.

        Raises `MalformedMessage` for bytes that are no frame of this protocol.
        """
        for body in self.bodies(piece):
            if body[:1] != bytes([RELAY]):
                yield message_of(body)

    def bodies(self, piece: bytes) -> Iterator[bytes]:
        """The bodies of the frames that a piece completes, whatever they carry."""
        self._bytes += piece
        while len(self._bytes) >= HEADER.size:
            (length,) = HEADER.unpack_from(self._bytes)
            if length > LONGEST_FRAME:
                raise MalformedMessage(f"a frame of {length} bytes; at most {LONGEST_FRAME} are allowed")
            if len(self._bytes) < HEADER.size + length:
                return
            body = bytes(self._bytes[HEADER.size:HEADER.size + length])
            del self._bytes[:HEADER.size + length]
            yield body


def message_of(body: bytes) -> Message:
    """The message of a body that is a text. Raises `MalformedMessage`."""
    try:
        message = json.loads(body.decode(), parse_constant=_refused)
    except (ValueError, RecursionError) as fault:
        raise MalformedMessage(f"a frame that is no JSON text: {fault}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise MalformedMessage("a frame that is no object with a text `type`")
    return message


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
