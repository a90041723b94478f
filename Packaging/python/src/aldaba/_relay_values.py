"""Messages between devices as Python's own values, and as bytes: deterministic CBOR (RFC 8949, section 4.2.1)."""

from __future__ import annotations

import math
import struct
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

# What is sent: texts, integers of 64 bits, floats, booleans, dates with a zone, UUIDs, bytes, lists of one kind, and
# dictionaries of the same.
Message = Mapping[str, Any]

DEFAULT_LIMIT = 64 << 10
LARGEST_LIMIT = 256 << 10
FRAME_LIMIT, FRAME_DEPTH, FRAME_VALUES = 320 << 10, 20, 8192
DEPTH, VALUES = 16, 4096
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# In milliseconds; so far a double of seconds tells them apart.
FARTHEST_DATE = 4 * 10**15


class MessageFault(ValueError):
    """A message that cannot be sent, or bytes that are none; the text says where and why."""

    def __init__(self, text: str, *, is_too_large: bool = False) -> None:
        super().__init__(text)
        self.is_too_large = is_too_large


@dataclass(frozen=True)
class FarDate:
    """A date outside the years 1 to 9999, which `datetime` cannot be: its milliseconds since 1970."""

    milliseconds: int


KINDS: tuple[tuple[Any, str], ...] = (
    (bool, "bool"), (int, "integer"), (float, "double"), (str, "string"), ((datetime, FarDate), "date"),
    (uuid.UUID, "uuid"), ((bytes, bytearray), "data"), ((list, tuple), "array"), (Mapping, "dictionary"))


def _kind(value: object) -> str | None:
    return next((name for kind, name in KINDS if isinstance(value, kind)), None)


def encode(
    message: Message, limit: int = DEFAULT_LIMIT, *, depth: int = DEPTH, values: int = VALUES,
    whole: str = "the message"
) -> bytes:
    """The bytes of a message, or of `whole`. Raises `MessageFault`."""
    if not isinstance(message, Mapping):
        raise MessageFault(f"{whole} must be a dictionary, not {type(message).__name__}")
    writer = _Writer(depth, values, whole)
    writer.map(message, 1, "")
    data = b"".join(writer.parts)
    if len(data) > limit:
        raise MessageFault(f"{whole} has {len(data)} bytes; at most {limit} are allowed", is_too_large=True)
    return data


class _Writer:
    def __init__(self, depth: int, values: int, whole: str) -> None:
        self.whole = whole
        self.parts: list[bytes] = []
        self.most_depth = depth
        self.left = values

    def head(self, major: int, number: int) -> None:
        top = major << 5
        if number < 24:
            self.parts.append(bytes([top | number]))
        elif number < 1 << 8:
            self.parts.append(struct.pack(">BB", top | 24, number))
        elif number < 1 << 16:
            self.parts.append(struct.pack(">BH", top | 25, number))
        elif number < 1 << 32:
            self.parts.append(struct.pack(">BI", top | 26, number))
        else:
            self.parts.append(struct.pack(">BQ", top | 27, number))

    def map(self, value: Message, depth: int, path: str) -> None:
        self.check_depth(depth, path)
        for key in value:
            if not isinstance(key, str):
                raise MessageFault(f"{path or self.whole}: the key {key!r} is no text")
            check_unicode(key, f"{path or self.whole}: the key {key!r}")
        self.head(5, len(value))
        for key in sorted(value, key=lambda each: (len(each.encode()), each.encode())):
            self.text(key)
            self.value(value[key], depth, f"{path}.{key}" if path else key)

    def check_depth(self, depth: int, path: str) -> None:
        if depth > self.most_depth:
            raise MessageFault(f"{path or self.whole} is nested deeper than {self.most_depth} levels")

    def text(self, text: str) -> None:
        data = text.encode()
        self.head(3, len(data))
        self.parts.append(data)

    def value(self, value: Any, depth: int, path: str) -> None:
        self.left -= 1
        if self.left < 0:
            raise MessageFault(f"{path}: {self.whole} has more values than are allowed")
        kind = _kind(value)
        if kind == "bool":
            self.parts.append(b"\xf5" if value else b"\xf4")
        elif kind == "integer":
            self.integer(value, path)
        elif kind == "double":
            self.double(value)
        elif kind == "string":
            check_unicode(value, path)
            self.text(value)
        elif kind == "data":
            self.head(2, len(value))
            self.parts.append(bytes(value))
        elif kind == "uuid":
            self.parts.append(b"\xd8\x25\x50" + value.bytes)
        elif kind == "date":
            self.date(value, path)
        elif kind == "array":
            self.array(value, depth + 1, path)
        elif kind == "dictionary":
            self.map(value, depth + 1, path)
        else:
            raise MessageFault(f"{path}: a {type(value).__name__} cannot be sent")

    def array(self, values: list[Any] | tuple[Any, ...], depth: int, path: str) -> None:
        self.check_depth(depth, path)
        self.head(4, len(values))
        for place, element in enumerate(values):
            if _kind(element) != _kind(values[0]):
                raise MessageFault(
                    f"{path}[{place}] is of the kind {_kind(element)} in an array that begins with {_kind(values[0])}; "
                    "an array has values of one kind")
            self.value(element, depth, f"{path}[{place}]")

    def integer(self, value: int, path: str) -> None:
        if not -(1 << 63) <= value < 1 << 63:
            raise MessageFault(f"{path}: {value} needs more than 64 bits with a sign")
        if value >= 0:
            self.head(0, value)
        else:
            self.head(1, -1 - value)

    def double(self, value: float) -> None:
        if math.isnan(value):
            self.parts.append(b"\xf9\x7e\x00")
            return
        for form, mark in (("e", b"\xf9"), ("f", b"\xfa")):
            try:
                data = struct.pack(">" + form, value)
            except OverflowError:
                continue
            if struct.unpack(">" + form, data)[0] == value:
                self.parts.append(mark + data)
                return
        self.parts.append(b"\xfb" + struct.pack(">d", value))

    def date(self, value: datetime | FarDate, path: str) -> None:
        if isinstance(value, FarDate):
            milliseconds = value.milliseconds
        elif value.tzinfo is None:
            raise MessageFault(f"{path}: the date has no time zone")
        else:
            milliseconds = round((value - EPOCH) / timedelta(milliseconds=1))
        if not isinstance(milliseconds, int) or abs(milliseconds) > FARTHEST_DATE:
            raise MessageFault(
                f"{path}: a date is a whole number of milliseconds, at most {FARTHEST_DATE} from 1970")
        self.parts.append(b"\xc1")
        if milliseconds % 1000 == 0:
            self.integer(milliseconds // 1000, path)
        else:
            self.double(milliseconds / 1000)


def decode(data: bytes, limit: int = FRAME_LIMIT, depth: int = FRAME_DEPTH) -> dict[str, Any]:
    """The message that bytes are. Raises `MessageFault`."""
    if len(data) > limit:
        raise MessageFault(f"the message has {len(data)} bytes; at most {limit} are allowed")
    reader = _Reader(bytes(data), depth)
    major, count = reader.head()
    if major != 5:
        raise MessageFault("the bytes are no map")
    message = reader.map(count, 1)
    if reader.place != len(data):
        raise MessageFault("bytes follow the message")
    return message


class _Reader:
    def __init__(self, data: bytes, depth: int) -> None:
        self.data = data
        self.place = 0
        self.most_depth = depth

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.place:
            raise MessageFault("the bytes end in the message")
        self.place += count
        return self.data[self.place - count:self.place]

    def head(self) -> tuple[int, int]:
        first = self.take(1)[0]
        short = first & 0x1F
        if short < 24:
            return first >> 5, short
        if short > 27:
            raise MessageFault("a length is left open")
        return first >> 5, int.from_bytes(self.take(1 << (short - 24)), "big")

    def text(self, count: int) -> str:
        try:
            return self.take(count).decode()
        except UnicodeDecodeError:
            raise MessageFault("a text is not UTF-8") from None

    def map(self, count: int, depth: int) -> dict[str, Any]:
        if depth > self.most_depth:
            raise MessageFault("the message is nested too deep")
        message: dict[str, Any] = {}
        for _ in range(count):
            major, length = self.head()
            if major != 3:
                raise MessageFault("a name is not a text")
            key = self.text(length)
            if key in message:
                raise MessageFault(f"the name {key} stands twice")
            message[key] = self.value(depth)
        return message

    def value(self, depth: int) -> Any:
        if self.place < len(self.data) and self.data[self.place] >> 5 == 7:
            return self.simple()
        major, number = self.head()
        if major == 0:
            return number
        if major == 1:
            return -1 - number
        if major == 2:
            return self.take(number)
        if major == 3:
            return self.text(number)
        if major == 4:
            if depth + 1 > self.most_depth:
                raise MessageFault("the message is nested too deep")
            return [self.value(depth + 1) for _ in range(number)]
        if major == 5:
            return self.map(number, depth + 1)
        if number == 1:
            return self.date()
        if number == 37 and self.head() == (2, 16):
            return uuid.UUID(bytes=self.take(16))
        raise MessageFault(f"the tag {number} is not used so")

    def date(self) -> datetime | FarDate:
        # Seconds are a number, and no other tag: so the reader goes no deeper than the message may.
        is_number = self.place < len(self.data) and self.data[self.place] >> 5 in (0, 1, 7)
        seconds: Any = self.value(0) if is_number else None
        if type(seconds) not in (int, float) or not -1e16 < seconds < 1e16:
            raise MessageFault("a date is no number of seconds that 64 bits of milliseconds hold")
        milliseconds = round(seconds * 1000)
        try:
            return EPOCH + timedelta(milliseconds=milliseconds)
        except OverflowError:
            return FarDate(milliseconds)

    def simple(self) -> bool | float:
        first = self.take(1)[0]
        if first in (0xF4, 0xF5):
            return first == 0xF5
        for mark, form, size in ((0xF9, "e", 2), (0xFA, "f", 4), (0xFB, "d", 8)):
            if first == mark:
                number: float = struct.unpack(">" + form, self.take(size))[0]
                return number
        raise MessageFault(f"the byte {first:02x} is no value")


def check_unicode(text: str, path: str) -> None:
    """UTF-8 has no halves of surrogate pairs (RFC 3629, section 3)."""
    place = next((place for place, character in enumerate(text) if "\ud800" <= character <= "\udfff"), None)
    if place is not None:
        raise MessageFault(f"{path} holds half of a surrogate pair as character {place}")
