"""The other half of a cross-platform app: it speaks with the native half over the channels, as Dart code would.

`Host(path)` connects to the native half's socket. `call` calls a method of it, `on` takes its calls. The forms are those
of Flutter's standard codecs and of Aldaba's frames (`Sources/AppSDK/README.md`).
"""

import queue
import socket
import struct
import threading

NOT_IMPLEMENTED = object()


class MethodError(Exception):
    """The native half answered with an error."""

    def __init__(self, code, message, details):
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.details = code, message, details


def _size(count):
    if count < 254:
        return bytes([count])
    return b"\xfe" + struct.pack("<H", count) if count <= 0xFFFF else b"\xff" + struct.pack("<I", count)


def encode(value, before=0):
    """A value's bytes; `before` is how many bytes of the message stand before it."""
    if value is None:
        return b"\x00"
    if isinstance(value, bool):
        return b"\x01" if value else b"\x02"
    if isinstance(value, int):
        return b"\x03" + struct.pack("<i", value) if -(2**31) <= value < 2**31 else b"\x04" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"\x06" + bytes(-(before + 1) % 8) + struct.pack("<d", value)
    if isinstance(value, (str, bytes)):
        content = value.encode() if isinstance(value, str) else value
        return (b"\x07" if isinstance(value, str) else b"\x08") + _size(len(content)) + content
    if isinstance(value, (list, dict)):
        members = [part for pair in value.items() for part in pair] if isinstance(value, dict) else value
        written = (b"\x0d" if isinstance(value, dict) else b"\x0c") + _size(len(value))
        for member in members:
            written += encode(member, before + len(written))
        return written
    raise TypeError(f"{type(value).__name__} has no form in the standard codec")


class _Reader:
    def __init__(self, message, offset=0):
        self.message, self.offset = message, offset

    def take(self, count):
        taken = self.message[self.offset:self.offset + count]
        if len(taken) < count:
            raise ValueError("the message ends within a value")
        self.offset += count
        return taken

    def size(self):
        first = self.take(1)[0]
        if first < 254:
            return first
        return struct.unpack("<H", self.take(2))[0] if first == 254 else struct.unpack("<I", self.take(4))[0]

    def value(self):
        tag = self.take(1)[0]
        if tag <= 2:
            return (None, True, False)[tag]
        if tag in (3, 4):
            return struct.unpack("<i", self.take(4))[0] if tag == 3 else struct.unpack("<q", self.take(8))[0]
        if tag == 6:
            self.take(-self.offset % 8)
            return struct.unpack("<d", self.take(8))[0]
        if tag in (7, 8):
            content = self.take(self.size())
            return content.decode() if tag == 7 else content
        if tag == 12:
            return [self.value() for _ in range(self.size())]
        if tag == 13:
            return {self.value(): self.value() for _ in range(self.size())}
        raise ValueError(f"no value begins with {tag}")


class Host:
    """A connection to the native half; its calls are answered by the functions given to `on`."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._handlers, self._replies, self._last, self._lock = {}, {}, 0, threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def on(self, channel, method, function):
        """Has a function take the calls of a method; what it gives back is the result."""
        self._handlers[channel, method] = function

    def call(self, channel, method, arguments=None, seconds=20):
        """The result of a method of the native half; `NOT_IMPLEMENTED` where it has none of that name."""
        call = encode(method)
        name = channel.encode()
        with self._lock:
            self._last += 1
            number, answer = self._last, queue.Queue()
            self._replies[number] = answer
        self._write(struct.pack("<BIH", 0, number, len(name)) + name + call + encode(arguments, len(call)))
        reply = answer.get(timeout=seconds)
        if not reply:
            return NOT_IMPLEMENTED
        reader = _Reader(reply, 1)
        if reply[0] == 0:
            return reader.value()
        raise MethodError(reader.value(), reader.value(), reader.value())

    def close(self):
        """Ends the connection."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _write(self, frame):
        with self._lock:
            self._socket.sendall(struct.pack("<I", len(frame)) + frame)

    def _read(self):
        stream = self._socket.makefile("rb")
        while len(head := stream.read(4)) == 4:
            frame = stream.read(struct.unpack("<I", head)[0])
            kind, number = struct.unpack_from("<BI", frame)
            if kind == 1:
                self._replies.pop(number, queue.Queue()).put(frame[5:])
            else:
                self._answer(number, frame[5:])

    def _answer(self, number, rest):
        end = 2 + struct.unpack_from("<H", rest)[0]
        reader = _Reader(rest[end:])
        channel, method, arguments = rest[2:end].decode(), reader.value(), reader.value()
        function = self._handlers.get((channel, method))
        reply = b"" if function is None else b"\x00" + encode(function(arguments), 1)
        self._write(struct.pack("<BI", 1, number) + reply)
