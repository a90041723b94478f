"""A server of HTTP/2 that writes the bytes that a test says, for the client of the library `AldabaAPNs`.

A scenario is a function that gets a `Peer`. It runs on the thread of its connection, and reads as it waits. Afterwards
every request of that connection is answered with 200.
"""

import socket
import ssl
import struct
import threading
from collections import Counter
from dataclasses import dataclass

import hpack
from hyperframe.frame import (
    ContinuationFrame, DataFrame, Frame, GoAwayFrame, HeadersFrame, PingFrame, PriorityFrame, RstStreamFrame,
    SettingsFrame, WindowUpdateFrame,
)

from raw_http2 import ACK, DATA, END_HEADERS, END_STREAM, ERRORS, GOAWAY, HEADERS, PREFACE, SETTINGS, block, frame

CODES = {name: code for code, name in enumerate(ERRORS)}
# The streams of `play`: one that was answered, two that are open, and others that nobody has begun.
PROOF, VICTIM, OTHER, IDLE, EVEN = 1, 3, 5, 101, 2


def head(stream, *fields, end=False, more=False):
    """HEADERS with fields that change no table; `more` if CONTINUATION follows."""
    return frame(HEADERS, (END_STREAM if end else 0) | (0 if more else END_HEADERS), stream, block(fields))


def ok(stream, *fields, end=True):
    """HEADERS of a success."""
    return head(stream, (":status", "200"), *fields, end=end)


def data(stream, body=b"", end=True):
    return frame(DATA, END_STREAM if end else 0, stream, body)


def goaway(last, code=0, debug=b""):
    return frame(GOAWAY, payload=struct.pack(">II", last, code) + debug)


def settings(*pairs):
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", *pair) for pair in pairs))


class Ended(Exception):
    """The client has ended the connection."""


@dataclass
class Request:
    """One request, with its field block as it came."""

    stream: int
    fields: dict
    block: bytes
    body: bytes = b""
    is_whole: bool = False
    is_answered: bool = False

    @property
    def name(self):
        return self.fields["apns-id"]


class Peer:
    """The server's end of one connection, with a record of what the client has sent."""

    def __init__(self, number, secured):
        self.number = number
        self.socket = secured
        self.decoder = hpack.Decoder()
        # The requests, and the codes of RST_STREAM, by stream.
        self.requests, self.resets = {}, {}
        # The code of the client's GOAWAY.
        self.goaway = None
        # The client's settings, how many of ours it has acknowledged, and what its acknowledgements of PING contain.
        self.settings, self.acknowledged, self.pongs = {}, 0, []
        # The bytes of DATA that came, and those that may be sent: for the connection under 0, and for each stream.
        self.received, self.windows = 0, Counter({0: 65535})
        self.acknowledges = True
        # The number of streams that the client may have open now.
        self.limit = None
        self._buffer = b""
        self._pings = 0
        self.most_open = 0

    @property
    def open(self):
        """The requests without an answer, in the order of their streams."""
        return [each for each in self.requests.values() if not each.is_answered and each.stream not in self.resets]

    @property
    def unanswered(self):
        """The whole requests without an answer."""
        return [each for each in self.open if each.is_whole]

    def write(self, *frames):
        try:
            self.socket.sendall(b"".join(frames))
        except OSError:
            # What the client has sent before its end can still be read.
            pass

    def answer(self, request, status=200):
        request.is_answered = True
        self.write(head(request.stream, (":status", str(status)), ("apns-id", request.name), end=True))

    def until(self, condition):
        """Reads until a condition is true, and returns its value."""
        while not (value := condition()):
            self.read()
        return value

    def whole(self, count):
        """Waits for whole requests, and returns them."""
        return self.until(lambda: len(self.unanswered) >= count and self.unanswered)

    def settle(self):
        """Returns after the client has handled all that was written, and has answered it."""
        for _ in range(2):
            self._pings += 1
            mark = struct.pack(">Q", self._pings)
            self.write(frame(6, payload=mark))
            self.until(lambda: mark in self.pongs)

    def serve(self):
        """Answers each request until the client ends the connection."""
        while True:
            for request in self.unanswered:
                self.answer(request)
            self.read()

    def end(self):
        """Ends the connection."""
        try:
            self.socket.unwrap()
        except OSError:
            # The client has ended it.
            pass
        raise Ended

    def read(self):
        """Reads and records one frame."""
        self._fill(9)
        received, length = Frame.parse_frame_header(memoryview(self._buffer[:9]))
        self._fill(9 + length)
        received.parse_body(memoryview(self._buffer[9:9 + length]))
        self._buffer = self._buffer[9 + length:]
        self._record(received)

    def read_preface(self):
        self._fill(len(PREFACE))
        assert self._buffer.startswith(PREFACE)
        self._buffer = self._buffer[len(PREFACE):]

    def _fill(self, count):
        while len(self._buffer) < count:
            try:
                some = self.socket.recv(65536)
            except TimeoutError:
                raise
            except OSError:
                some = b""
            if not some:
                raise Ended
            self._buffer += some

    def _record(self, received):
        stream = received.stream_id
        match received:
            case HeadersFrame():
                assert "END_HEADERS" in received.flags and stream % 2 == 1 and stream > max(self.requests, default=0)
                fields = dict(self.decoder.decode(received.data))
                self.requests[stream] = Request(stream, fields, received.data, is_whole="END_STREAM" in received.flags)
                self.windows[stream] += self.settings.get(SettingsFrame.INITIAL_WINDOW_SIZE, 65535)
                self.most_open = max(self.most_open, len(self.open))
                assert self.limit is None or len(self.open) <= self.limit
            case DataFrame():
                self.received += received.flow_controlled_length
                self.requests[stream].body += received.data
                self.requests[stream].is_whole = "END_STREAM" in received.flags
            case SettingsFrame() if "ACK" in received.flags:
                self.acknowledged += 1
            case SettingsFrame():
                self.settings.update(received.settings)
                if self.acknowledges:
                    self.write(frame(SETTINGS, ACK))
            case PingFrame() if "ACK" in received.flags:
                self.pongs.append(received.opaque_data)
            case PingFrame():
                self.write(frame(6, ACK, payload=received.opaque_data))
            case RstStreamFrame():
                self.resets.setdefault(stream, []).append(ERRORS[received.error_code])
            case GoAwayFrame():
                self.goaway = ERRORS[received.error_code]
            case WindowUpdateFrame():
                self.windows[stream] += received.window_increment
            case PriorityFrame():
                pass
            case ContinuationFrame() | _:
                raise AssertionError(f"the client has sent {received}")


class FrameServer:
    """Listens on a free port of loopback, and plays `scenario(peer)` on each connection, or on the first one alone.

    `opening` is what it writes first; `first` is that of the first connection.
    """

    def __init__(self, certificates, scenario, opening=frame(SETTINGS), first=None, on_each=False, acknowledges=True):
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificates.server, certificates.key)
        self._context.set_alpn_protocols(["h2"])
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listener.getsockname()[1]
        self._scenario, self._opening, self._on_each = scenario, opening, on_each
        self._first = opening if first is None else first
        self._acknowledges = acknowledges
        self.connections, self.faults = [], []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def close(self):
        """Takes no more connections, and waits for the end of all."""
        if self._listener.fileno() < 0:
            return
        # This wakes the thread that accepts.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join(10)
        self._listener.close()
        for thread in self._threads[1:]:
            thread.join(15)

    def check(self):
        """Closes, and raises the first fault of a scenario."""
        self.close()
        if self.faults:
            raise self.faults[0]

    def _accept(self):
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(plain,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, plain):
        plain.settimeout(12)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            with self._context.wrap_socket(plain, server_side=True) as secured:
                self._play(secured)
        except (Ended, ConnectionError, ssl.SSLError):
            pass
        except Exception as fault:
            self.faults.append(fault)

    def _play(self, secured):
        # One thread accepts, but the handshakes of two connections may end in another order.
        peer = Peer(0, secured)
        peer.acknowledges = self._acknowledges
        self.connections.append(peer)
        peer.number = self.connections.index(peer) + 1
        peer.write(self._first if peer.number == 1 else self._opening)
        peer.read_preface()
        if peer.number == 1 or self._on_each:
            self._scenario(peer)
        peer.serve()
