"""HTTP/2 frames written by hand, for saying what no library would say (RFC 9113, sections 4 to 8)."""

import select
import struct
import time

import hpack
from hyperframe.frame import Frame, GoAwayFrame, HeadersFrame, PingFrame, RstStreamFrame, SettingsFrame

from h2_client import open_tls

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, WITH_PRIORITY = 0x1, 0x1, 0x4, 0x8, 0x20
ERRORS = (
    "NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED FRAME_SIZE_ERROR "
    "REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM INADEQUATE_SECURITY HTTP_1_1_REQUIRED"
).split()


def frame(kind, flags=0, stream=0, payload=b"", length=None):
    """One frame; `length` lies about the payload's."""
    size = len(payload) if length is None else length
    return struct.pack(">I", size)[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def setting(identifier, value):
    return frame(SETTINGS, payload=struct.pack(">HI", identifier, value))


def window_update(stream, increment):
    return frame(WINDOW_UPDATE, stream=stream, payload=struct.pack(">I", increment))


def reset(stream, code=8):
    return frame(RST_STREAM, stream=stream, payload=struct.pack(">I", code))


def block(headers):
    """A header block without dynamic-table entries, so that blocks may come in any order."""
    return b"".join(
        b"\x00" + _string(name.encode()) + _string(value if isinstance(value, bytes) else value.encode())
        for name, value in headers
    )


def _string(data):
    """An HPACK string literal, not Huffman coded (RFC 7541, 5.1 and 5.2)."""
    if len(data) < 127:
        return bytes([len(data)]) + data
    rest, size = len(data) - 127, bytearray([127])
    while rest >= 128:
        size.append(rest % 128 + 128)
        rest //= 128
    size.append(rest)
    return bytes(size) + data


class RawConnection:
    """A verified TLS connection on which bytes are written as they are, and frames read."""

    def __init__(self, address, ca, preface=PREFACE + frame(SETTINGS)):
        self._socket = open_tls(address, ca)
        self._buffer = b""
        self._decoder = hpack.Decoder()
        self.write(preface)

    def write(self, data):
        """Writes; a peer that has closed already is no error here, since `outcome` will tell."""
        try:
            self._socket.sendall(data)
        except OSError:
            pass

    def outcome(self, stream=1, seconds=10.0):
        """What became of `stream`: a status ("200"), "reset CODE", "goaway CODE" or "closed"."""
        for received in self._frames(seconds):
            match received:
                case GoAwayFrame() if received.error_code:
                    return f"goaway {ERRORS[received.error_code]}"
                case RstStreamFrame() if received.stream_id == stream:
                    return f"reset {ERRORS[received.error_code]}"
                case HeadersFrame():
                    headers = dict(self._decoder.decode(received.data))
                    if received.stream_id == stream:
                        return headers[":status"]
        return "closed"

    def is_closed(self, seconds=10.0):
        """Reads on until the server closes the connection."""
        for _ in self._frames(seconds):
            pass
        return True

    def answers_ping(self, seconds=10.0):
        """Whether the connection still works."""
        self.write(frame(PING, payload=b"knocking"))
        return any(isinstance(each, PingFrame) and "ACK" in each.flags for each in self._frames(seconds))

    def close(self):
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _frames(self, seconds):
        """Frames until the connection ends; raises TimeoutError when it neither speaks nor ends in time."""
        deadline = time.monotonic() + seconds
        while True:
            while len(self._buffer) >= 9:
                head, length = Frame.parse_frame_header(memoryview(self._buffer[:9]))
                if len(self._buffer) < 9 + length:
                    break
                head.parse_body(memoryview(self._buffer[9:9 + length]))
                self._buffer = self._buffer[9 + length:]
                if isinstance(head, SettingsFrame) and "ACK" not in head.flags:
                    self.write(frame(SETTINGS, ACK))
                yield head
            left = max(0, deadline - time.monotonic())
            if not self._socket.pending() and not select.select([self._socket], [], [], left)[0]:
                raise TimeoutError(f"the server neither answered nor closed within {seconds:g} s")
            try:
                data = self._socket.recv(65536)
            except OSError:
                return
            if not data:
                return
            self._buffer += data
