"""A scripted client of the device channel (MCS) in plain Python: TLS socket, protobuf by hand.

Written from the protocol's published facts: one version byte each way, then packets of one tag byte, a varint32
size and a proto2 message; stream ids are counted, never sent. Nothing acknowledges by itself here: a test says
when, and in which of the three ways.
"""

import dataclasses
import http.client
import socket
import ssl
import struct
import time
from urllib.parse import urlencode, urlsplit

PING, PONG, LOGIN, LOGIN_RESPONSE, CLOSE, IQ, DATA, STREAM_ERROR = 0, 1, 2, 3, 4, 7, 8, 10
SELECTIVE_ACK, STREAM_ACK = 12, 13
# Where each kind of packet carries the highest stream id that its sender has received.
LAST_STREAM_ID = {PING: 2, PONG: 2, LOGIN_RESPONSE: 6, IQ: 10, DATA: 11}
RECEIPTS = "aldaba.receipts"


# --- protobuf -------------------------------------------------------------------------------------------------


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode(*fields):
    """Fields as (number, value): int and bool are varints, str and bytes have a length, float is fixed64."""
    out = bytearray()
    for number, value in fields:
        if value is None:
            continue
        if isinstance(value, Fixed64):
            out += varint(number << 3 | 1) + struct.pack("<Q", value.value)
        elif isinstance(value, int):
            out += varint(number << 3) + varint(int(value))
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return bytes(out)


@dataclasses.dataclass(frozen=True)
class Fixed64:
    value: int


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7


class Message:
    """The fields of an encoded message, in order; repeated ones several times."""

    def __init__(self, data):
        self.fields = []
        at = 0
        while at < len(data):
            key, at = read_varint(data, at)
            number, kind = key >> 3, key & 7
            if kind == 0:
                value, at = read_varint(data, at)
            elif kind == 1:
                value, at = struct.unpack_from("<Q", data, at)[0], at + 8
            elif kind == 2:
                size, at = read_varint(data, at)
                value, at = bytes(data[at:at + size]), at + size
            elif kind == 5:
                value, at = struct.unpack_from("<I", data, at)[0], at + 4
            else:
                raise ValueError(f"wire type {kind}")
            self.fields.append((number, value))

    def all(self, number):
        return [value for field, value in self.fields if field == number]

    def get(self, number, default=None):
        values = self.all(number)
        return values[-1] if values else default

    def text(self, number, default=""):
        value = self.get(number)
        return default if value is None else value.decode()


# --- enrolment ------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Identity:
    device: int
    secret: int


def _post(url, path, body, headers):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    try:
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def checkin(url, known=None):
    """Enrols a device (or checks a known one in) and returns its identity; the protobuf form of the checkin."""
    body = encode(
        (2, known.device if known else 0), (4, encode((12, 3))), (13, Fixed64(known.secret if known else 0)),
        (14, 3), (20, 0), (22, 0))
    status, answer = _post(url, "/checkin", body, {"content-type": "application/x-protobuf"})
    if status != 200:
        raise RuntimeError(f"checkin answered {status}: {answer!r}")
    response = Message(answer)
    return Identity(response.get(7), response.get(8))


def register3(url, identity, app, sender, environment="sandbox"):
    """Registers an app on a device and returns the device token."""
    form = urlencode({"app": app, "sender": sender, "device": identity.device, "X-environment": environment})
    headers = {
        "content-type": "application/x-www-form-urlencoded",
        "authorization": f"AidLogin {identity.device}:{identity.secret}",
    }
    status, answer = _post(url, "/c2dm/register3", form, headers)
    name, _, token = answer.decode().strip().partition("=")
    if status != 200 or name != "token":
        raise RuntimeError(f"register3 answered {status}: {answer!r}")
    return token


# --- the connection -------------------------------------------------------------------------------------------


class Closed(Exception):
    """The server closed the connection."""


@dataclasses.dataclass
class Packet:
    tag: int
    message: Message
    stream_id: int

    @property
    def last_stream_id_received(self):
        field = LAST_STREAM_ID.get(self.tag)
        return self.message.get(field) if field else None


@dataclasses.dataclass
class Notification:
    """A data stanza, read as Aldaba writes a notification into it."""

    persistent_id: str
    stream_id: int
    category: str
    sender: str
    collapse_key: str
    payload: bytes
    app_data: dict
    ttl: int

    @classmethod
    def of(cls, packet):
        message = packet.message
        pairs = (Message(pair) for pair in message.all(7))
        return cls(
            message.text(9), packet.stream_id, message.text(5), message.text(3), message.text(6),
            message.get(21, b""), {pair.text(1): pair.text(2) for pair in pairs}, message.get(17, 0))


class Device:
    """One connection. `version` is the byte that is sent; `chunk` sends everything in pieces of so many bytes."""

    def __init__(self, address, ca, version=41, chunk=None, timeout=10.0):
        host, _, port = address.rpartition(":")
        context = ssl.create_default_context(cafile=ca)
        plain = socket.create_connection((host, int(port)), timeout=timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = context.wrap_socket(plain, server_hostname=host)
        self.version = version
        self.chunk = chunk
        self.timeout = timeout
        self.server_version = None
        self.sent_count = 0
        self.received_count = 0
        self._buffer = bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cut()

    # Writing

    def send_raw(self, data):
        for start in range(0, len(data), self.chunk or len(data) or 1):
            self.socket.sendall(data[start:start + (self.chunk or len(data))])

    def send(self, tag, body=b"", prefix=b""):
        self.send_raw(prefix + bytes([tag]) + varint(len(body)) + body)
        self.sent_count += 1

    # Reading

    def _fill(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("no packet came in time")
        self.socket.settimeout(left)
        try:
            data = self.socket.recv(65536)
        except (ConnectionResetError, ssl.SSLEOFError, ssl.SSLZeroReturnError) as error:
            raise Closed(str(error)) from None
        if not data:
            raise Closed("end of stream")
        self._buffer += data

    def _take(self):
        """The next complete packet in the buffer, or None."""
        if self.server_version is None and self._buffer:
            self.server_version = self._buffer.pop(0)
        try:
            size, start = read_varint(self._buffer, 1)
        except IndexError:
            return None
        if len(self._buffer) < start + size:
            return None
        tag = self._buffer[0]
        body = bytes(self._buffer[start:start + size])
        del self._buffer[:start + size]
        self.received_count += 1
        return Packet(tag, Message(body), self.received_count)

    def receive(self, timeout=None):
        """The next packet. Raises Closed when the server has closed, TimeoutError when none comes."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        while (packet := self._take()) is None:
            self._fill(deadline)
        return packet

    def receive_kind(self, tag, timeout=None):
        """The next packet of a kind; others that come before it are passed over, heartbeats answered."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        while True:
            packet = self.receive(max(0.0, deadline - time.monotonic()))
            if packet.tag == tag:
                return packet
            if packet.tag == PING:
                self.send(PONG)

    def notification(self, timeout=None):
        return Notification.of(self.receive_kind(DATA, timeout))

    def notifications(self, count, timeout=None):
        return [self.notification(timeout) for _ in range(count)]

    def nothing_more(self):
        """Asks for a heartbeat and returns the notifications that came before its answer: none, if all is well."""
        self.send(PING)
        came = []
        while (packet := self.receive()).tag != PONG:
            if packet.tag == DATA:
                came.append(Notification.of(packet))
        return came

    def closed_by_server(self, timeout=None):
        """Reads until the server has closed; returns the packets that came before that."""
        packets = []
        try:
            while True:
                packets.append(self.receive(timeout))
        except Closed:
            return packets

    # The protocol

    def login_body(self, identity, received=()):
        user = str(identity.device)
        return encode(
            (1, "scripted-1"), (2, "mcs.android.com"), (3, user), (4, user), (5, str(identity.secret)),
            (6, f"android-{identity.device:x}"), (7, 1), (8, encode((1, "new_vc"), (2, "1"))),
            *((10, name) for name in received), (12, 0), (14, 1), (16, 2), (17, 1))

    def login(self, identity, received=()):
        """Logs in and returns the LoginResponse, whatever it says."""
        self.send(LOGIN, self.login_body(identity, received), prefix=bytes([self.version]))
        packet = self.receive()
        assert packet.tag == LOGIN_RESPONSE, packet
        return packet

    def ping(self, last=None):
        self.send(PING, encode((2, last)))
        return self.receive_kind(PONG)

    def acknowledge_stream(self, last):
        """Cumulative: everything that the server sent up to a stream id."""
        self.send(IQ, encode((2, 1), (3, ""), (7, encode((1, STREAM_ACK), (2, b""))), (10, last)))

    def acknowledge_selectively(self, persistent_ids):
        """Single packets, by their persistent ids."""
        names = encode(*((1, name) for name in persistent_ids))
        self.send(IQ, encode((2, 1), (3, ""), (7, encode((1, SELECTIVE_ACK), (2, names)))))

    def send_receipts(self, persistent_id, receipts):
        """Receipts as (notification id, state, milliseconds, source); returns the stream id of the stanza."""
        batch = encode(*((1, encode((1, int(i)), (2, state), (3, at), (4, source)))
                         for i, state, at, source in receipts))
        self.send_upstream(persistent_id, RECEIPTS, batch)
        return self.sent_count

    def send_upstream(self, persistent_id, category, data):
        now = int(time.time() * 1000)
        self.send(DATA, encode(
            (2, persistent_id), (4, "aldaba"), (5, category), (9, persistent_id), (17, 86400), (18, now), (21, data)))

    def send_message(self, message_id, app, recipient, data, ttl=86400, queued=None, raw=None):
        """What an app sends to its provider; returns the stream id of the stanza."""
        now = int(time.time() * 1000)
        pairs = (encode((1, key), (2, value)) for key, value in data.items())
        self.send(DATA, encode(
            (2, message_id), (4, recipient), (5, app), *((7, pair) for pair in pairs), (9, f"p-{message_id}"),
            (17, ttl), (18, now), (19, queued), (21, raw)))
        return self.sent_count

    def wait_confirmed(self, stream_id):
        """Waits until the server says that it has received one of our packets."""
        while True:
            last = self.receive().last_stream_id_received
            if last is not None and last >= stream_id:
                return last

    def cut(self):
        """Drops the connection without a word, as a lost network does."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()
