"""Messages between devices as Python's own types, and as bytes: deterministic CBOR (RFC 8949, 4.2.1) without other packages.

    str, int, float, bool, datetime (with a zone), uuid.UUID, bytes, list of one kind, dict with str keys

`1` and `1.0` and `True` stay what they are. Whatever else there is, is refused at its sender, with its place.
"""

import math
import struct
import uuid
from datetime import datetime, timedelta, timezone

DEFAULT_LIMIT = 64 << 10
HARD_LIMIT = 256 << 10
FRAME_LIMIT = 320 << 10
DEPTH = 16
ENTRIES = 4096
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# In milliseconds; so far a double of seconds tells them apart.
FARTHEST_DATE = 4 * 10**15


class MessageFault(ValueError):
    """A message that cannot be sent, or bytes that are none; the text says where and why."""


class FarDate:
    """A date outside the years 1 to 9999, which `datetime` cannot be: its milliseconds since 1970."""

    def __init__(self, milliseconds):
        self.milliseconds = milliseconds

    def __eq__(self, other):
        return isinstance(other, FarDate) and other.milliseconds == self.milliseconds

    def __hash__(self):
        return hash(self.milliseconds)

    def __repr__(self):
        return f"FarDate({self.milliseconds})"


def _kind(value):
    if isinstance(value, bool):
        return "bool"
    for kind, name in (
        (int, "integer"), (float, "double"), (str, "string"), ((datetime, FarDate), "date"), (uuid.UUID, "uuid"),
        ((bytes, bytearray), "data"), ((list, tuple), "array"), (dict, "dictionary"),
    ):
        if isinstance(value, kind):
            return name
    return None


def encode(message, limit=DEFAULT_LIMIT, depth=DEPTH, entries=ENTRIES, whole="the message"):
    """The bytes of a message, or of `whole`; raises MessageFault."""
    if not isinstance(message, dict):
        raise MessageFault(f"{whole} must be a dict, not {type(message).__name__}")
    writer = _Writer(depth, entries, whole)
    writer.map(message, 1, "")
    data = b"".join(writer.parts)
    if len(data) > limit:
        raise MessageFault(f"{whole} has {len(data)} bytes; at most {limit} are allowed")
    return data


class _Writer:
    def __init__(self, depth, entries, whole):
        self.whole = whole
        self.parts = []
        self.most_depth = depth
        self.left = entries

    def head(self, major, number):
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

    def map(self, value, depth, path):
        if depth > self.most_depth:
            raise MessageFault(f"{path or self.whole} is nested deeper than {self.most_depth} levels")
        for key in value:
            if not isinstance(key, str):
                raise MessageFault(f"{path or self.whole}: the key {key!r} is no str")
            _check_unicode(key, f"{path or self.whole}: the key {key!r}")
        self.head(5, len(value))
        for key in sorted(value, key=lambda key: (len(key.encode()), key.encode())):
            data = key.encode()
            self.head(3, len(data))
            self.parts.append(data)
            self.value(value[key], depth, f"{path}.{key}" if path else key)

    def value(self, value, depth, path):
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
            _check_unicode(value, path)
            data = value.encode()
            self.head(3, len(data))
            self.parts.append(data)
        elif kind == "data":
            self.head(2, len(value))
            self.parts.append(bytes(value))
        elif kind == "uuid":
            self.parts.append(b"\xd8\x25\x50" + value.bytes)
        elif kind == "date":
            self.date(value, path)
        elif kind == "array":
            if depth >= self.most_depth:
                raise MessageFault(f"{path} is nested deeper than {self.most_depth} levels")
            self.head(4, len(value))
            for index, element in enumerate(value):
                if _kind(element) != _kind(value[0]):
                    raise MessageFault(
                        f"{path}[{index}] is of the kind {_kind(element)} in an array that begins with {_kind(value[0])}; "
                        "an array has values of one kind")
                self.value(element, depth + 1, f"{path}[{index}]")
        elif kind == "dictionary":
            self.map(value, depth + 1, path)
        else:
            raise MessageFault(f"{path}: a {type(value).__name__} cannot be sent")

    def integer(self, value, path):
        if not -(1 << 63) <= value < 1 << 63:
            raise MessageFault(f"{path}: {value} needs more than 64 bits with a sign")
        if value >= 0:
            self.head(0, value)
        else:
            self.head(1, -1 - value)

    def double(self, value):
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

    def date(self, value, path):
        if isinstance(value, FarDate):
            milliseconds = value.milliseconds
        elif value.tzinfo is None:
            raise MessageFault(f"{path}: the date has no time zone")
        else:
            milliseconds = round((value - EPOCH) / timedelta(milliseconds=1))
        if not isinstance(milliseconds, int) or abs(milliseconds) > FARTHEST_DATE:
            raise MessageFault(f"{path}: a date is a whole number of milliseconds, at most {FARTHEST_DATE} from 1970")
        self.parts.append(b"\xc1")
        if milliseconds % 1000 == 0:
            self.integer(milliseconds // 1000, path)
        else:
            self.double(milliseconds / 1000)


def decode(data, limit=FRAME_LIMIT, depth=20):
    """The message that bytes are; raises MessageFault."""
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
    def __init__(self, data, depth):
        self.data = data
        self.place = 0
        self.most_depth = depth

    def take(self, count):
        if count > len(self.data) - self.place:
            raise MessageFault("the bytes end in the message")
        self.place += count
        return self.data[self.place - count:self.place]

    def head(self):
        first = self.take(1)[0]
        short = first & 0x1F
        if short < 24:
            return first >> 5, short
        if short > 27:
            raise MessageFault("a length is left open")
        return first >> 5, int.from_bytes(self.take(1 << (short - 24)), "big")

    def text(self, count):
        try:
            return self.take(count).decode()
        except UnicodeDecodeError:
            raise MessageFault("a text is not UTF-8") from None

    def map(self, count, depth):
        if depth > self.most_depth:
            raise MessageFault("the message is nested too deep")
        message = {}
        for _ in range(count):
            major, length = self.head()
            if major != 3:
                raise MessageFault("a name is not a text")
            key = self.text(length)
            if key in message:
                raise MessageFault(f"the name {key} stands twice")
            message[key] = self.value(depth)
        return message

    def value(self, depth):
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
            seconds = self.value(depth)
            if not isinstance(seconds, (int, float)) or not -1e16 < seconds < 1e16:
                raise MessageFault("a date is no number of seconds that 64 bits of milliseconds hold")
            milliseconds = round(seconds * 1000)
            try:
                return EPOCH + timedelta(milliseconds=milliseconds)
            except OverflowError:
                return FarDate(milliseconds)
        if number == 37:
            return uuid.UUID(bytes=self.value(depth))
        raise MessageFault(f"the tag {number} is not used")

    def simple(self):
        first = self.take(1)[0]
        if first in (0xF4, 0xF5):
            return first == 0xF5
        for mark, form, size in ((0xF9, "e", 2), (0xFA, "f", 4), (0xFB, "d", 8)):
            if first == mark:
                return struct.unpack(">" + form, self.take(size))[0]
        raise MessageFault(f"the byte {first:02x} is no value")


def _check_unicode(text, path):
    """UTF-8 has no halves of surrogate pairs (RFC 3629, section 3)."""
    place = next((place for place, character in enumerate(text) if "\ud800" <= character <= "\udfff"), None)
    if place is not None:
        raise MessageFault(f"{path or 'the message'} holds half of a surrogate pair as character {place}")
