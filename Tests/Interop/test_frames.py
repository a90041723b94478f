"""Frames with one fault each: a stream error or a connection error as RFC 9113 says, and the server lives."""

import socket
import ssl
import struct
from urllib.parse import urlsplit

import pytest

from h2_client import H2Client, verified_context
from raw_http2 import (
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PADDED, PING, PREFACE, PRIORITY, PUSH_PROMISE,
    RST_STREAM, SETTINGS, WITH_PRIORITY, RawConnection, block, frame, reset, setting, window_update,
)

BODY = b'{"aps":{"alert":"frame by frame"}}'
STREAM_ERROR = "reset PROTOCOL_ERROR"
PROTOCOL, FRAME_SIZE, FLOW = "goaway PROTOCOL_ERROR", "goaway FRAME_SIZE_ERROR", "goaway FLOW_CONTROL_ERROR"


class Good:
    """The parts of a good request, from which cases are put together."""

    def __init__(self, path, provider):
        self.pseudo = [
            (":method", "POST"), (":scheme", "https"), (":authority", urlsplit(path["apns"]).netloc),
            (":path", f"/3/device/{path['deviceToken']}"),
        ]
        self.plain = provider.headers()
        self.headers = self.pseudo + self.plain

    def without(self, name):
        return [pair for pair in self.headers if pair[0] != name]

    def changed(self, name, value):
        return [(each, value if each == name else old) for each, old in self.headers]

    def request(self, stream=1, headers=None, body=BODY):
        """HEADERS and DATA of a request."""
        return frame(HEADERS, END_HEADERS, stream, block(headers or self.headers)) + frame(
            DATA, END_STREAM, stream, body)


@pytest.fixture(scope="module")
def good(path, provider):
    return Good(path, provider)


@pytest.fixture(scope="module")
def bystander(path):
    """A connection that stays open through all faults: no fault of another's may end it."""
    with H2Client(path["apns"], path["ca"]) as client:
        yield client


@pytest.fixture
def lives(bystander, path, provider):
    """Asserts afterwards that the server answers a good request, on the old connection and on a new one."""
    yield
    where = f"/3/device/{path['deviceToken']}"
    assert bystander.request("POST", where, provider.headers(), BODY).status == 200
    with H2Client(path["apns"], path["ca"]) as fresh:
        assert fresh.request("POST", where, provider.headers(), BODY).status == 200


def headers(make):
    """A request with other headers, and a body."""
    return lambda good: good.request(headers=make(good))


def plus(*pairs):
    return headers(lambda good: good.headers + list(pairs))


MALFORMED_REQUESTS = {
    "a header name in upper case": plus(("Apns-Priority", "10")),
    "a header name with a space": plus(("apns priority", "10")),
    "an empty header name": plus(("", "x")),
    "a header value with a line feed": plus(("x-note", "a\nb")),
    "a header value with a null byte": plus(("x-note", "a\0b")),
    "no :method": headers(lambda good: good.without(":method")),
    "no :path": headers(lambda good: good.without(":path")),
    "no :scheme": headers(lambda good: good.without(":scheme")),
    "trailers with a line feed": lambda good: (
        frame(HEADERS, END_HEADERS, 1, block(good.headers)) + frame(DATA, 0, 1, BODY)
        + frame(HEADERS, END_HEADERS | END_STREAM, 1, block([("x-note", "a\nb")]))),
    "neither :authority nor host": headers(lambda good: good.without(":authority")),
    ":method with a line feed": headers(lambda good: good.changed(":method", "PO\nST")),
    ":path twice": headers(lambda good: [(":path", "/")] + good.headers),
    "an unknown pseudo header": headers(lambda good: [(":token", "x")] + good.headers),
    "a response's pseudo header": headers(lambda good: [(":status", "200")] + good.headers),
    "a pseudo header after the others": headers(lambda good: good.plain + good.pseudo),
    "connection: close": plus(("connection", "close")),
    "transfer-encoding: chunked": plus(("transfer-encoding", "chunked")),
    "te: gzip": plus(("te", "gzip")),
    "trailers with a pseudo header": lambda good: (
        frame(HEADERS, END_HEADERS, 1, block(good.headers)) + frame(DATA, 0, 1, BODY)
        + frame(HEADERS, END_HEADERS | END_STREAM, 1, block([(":path", "/")]))),
}


@pytest.mark.parametrize("name", MALFORMED_REQUESTS)
def test_a_malformed_request_is_a_stream_error(name, good, path, lives):
    with RawConnection(path["apns"], path["ca"]) as connection:
        connection.write(MALFORMED_REQUESTS[name](good))
        assert connection.outcome() == STREAM_ERROR
        connection.write(good.request(stream=3))
        assert connection.outcome(stream=3) == "200", "the connection goes on"


ANSWERED = {
    "an empty :path": (lambda good: good.changed(":path", ""), "404"),
    "a :path without a slash": (lambda good: good.changed(":path", "3/device/x"), "404"),
    "a token with a line feed": (lambda good: good.changed(":path", "/3/device/ab\ncd"), "400"),
    "an apns-topic with a line feed": (lambda good: good.changed("apns-topic", "com.example\n.todo"), "400"),
    "an apns-topic with a blank behind it": (lambda good: good.changed("apns-topic", "com.example.todo "), "400"),
    "an apns-id with a null byte": (lambda good: good.headers + [("apns-id", "a\0b")], "400"),
    "an apns-collapse-id with a line feed": (lambda good: good.headers + [("apns-collapse-id", "a\nb")], "400"),
    "a provider token with a line feed": (lambda good: good.changed("authorization", "bearer a\nb"), "403"),
    "an unknown field with a blank around it": (lambda good: good.headers + [("user-agent", " x ")], "200"),
    "content-length larger than the body": (lambda good: good.headers + [("content-length", str(len(BODY) + 1))], "400"),
    "content-length smaller than the body": (lambda good: good.headers + [("content-length", str(len(BODY) - 1))], "400"),
    "content-length that is no number": (lambda good: good.headers + [("content-length", "many")], "400"),
    "two content-lengths": (
        lambda good: good.headers + [("content-length", str(len(BODY))), ("content-length", "7")], "400"),
    "a field of 9,000 bytes": (lambda good: good.headers + [("x-note", "x" * 9000)], "400"),
    "a provider token of 9,000 bytes": (lambda good: good.changed("authorization", "bearer " + "x" * 9000), "400"),
    "a token of 9,000 bytes": (lambda good: good.changed(":path", "/3/device/" + "a" * 9000), "400"),
    "80 fields": (lambda good: good.headers + [(f"x-{number}", "") for number in range(80)], "400"),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_what_a_library_may_send_by_mistake_gets_a_reason(name, good, path, lives):
    change, expected = ANSWERED[name]
    with RawConnection(path["apns"], path["ca"]) as connection:
        connection.write(good.request(headers=change(good)))
        assert connection.outcome() == expected


def raw(data):
    return lambda good: data


CONNECTION_ERRORS = {
    "DATA on an idle stream": (raw(frame(DATA, END_STREAM, 5, BODY)), PROTOCOL),
    "DATA on stream 0": (raw(frame(DATA, 0, 0, BODY)), PROTOCOL),
    "DATA with more padding than payload": (
        lambda good: frame(HEADERS, END_HEADERS, 1, block(good.headers)) + frame(DATA, PADDED, 1, b"\xffx"), PROTOCOL),
    "HEADERS on stream 0": (lambda good: frame(HEADERS, END_HEADERS, 0, block(good.headers)), PROTOCOL),
    "HEADERS on an even stream": (lambda good: good.request(stream=2), PROTOCOL),
    "HEADERS with more padding than payload": (
        lambda good: frame(HEADERS, END_HEADERS | PADDED, 1, b"\xff" + block(good.headers)[:20]), PROTOCOL),
    "an index beyond the tables": (raw(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\xfe")),
                                   "goaway COMPRESSION_ERROR"),
    "index zero": (raw(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x80")), "goaway COMPRESSION_ERROR"),
    "a header block cut in a string": (
        lambda good: frame(HEADERS, END_HEADERS | END_STREAM, 1, block(good.headers)[:-3]), "goaway COMPRESSION_ERROR"),
    "an integer without end": (
        raw(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\xff" + b"\xff" * 20)), "goaway COMPRESSION_ERROR"),
    "bad Huffman code": (
        raw(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x00\x84\xff\xff\xff\xff\x01x")), "goaway COMPRESSION_ERROR"),
    "CONTINUATION without HEADERS": (raw(frame(CONTINUATION, END_HEADERS, 1, b"\x82")), PROTOCOL),
    "CONTINUATION of another stream": (
        raw(frame(HEADERS, END_STREAM, 1, b"\x82") + frame(CONTINUATION, END_HEADERS, 3, b"\x87")), PROTOCOL),
    "a PING inside a header block": (
        raw(frame(HEADERS, END_STREAM, 1, b"\x82") + frame(PING, payload=b"knocking")), PROTOCOL),
    "DATA inside a header block": (raw(frame(HEADERS, 0, 1, b"\x83") + frame(DATA, END_STREAM, 1, BODY)), PROTOCOL),
    "a frame larger than allowed": (raw(frame(DATA, 0, 1, b"", length=1 << 23)), FRAME_SIZE),
    "SETTINGS of five bytes": (raw(frame(SETTINGS, payload=b"12345")), FRAME_SIZE),
    "SETTINGS acknowledged with a payload": (raw(frame(SETTINGS, ACK, payload=b"123456")), FRAME_SIZE),
    "SETTINGS on a stream": (raw(frame(SETTINGS, 0, 1)), PROTOCOL),
    "ENABLE_PUSH of 2": (raw(setting(2, 2)), PROTOCOL),
    "INITIAL_WINDOW_SIZE beyond 31 bits": (raw(setting(4, 1 << 31)), FLOW),
    "MAX_FRAME_SIZE of 100": (raw(setting(5, 100)), PROTOCOL),
    "PING of seven bytes": (raw(frame(PING, payload=b"knockin")), FRAME_SIZE),
    "PING on a stream": (raw(frame(PING, 0, 1, b"knocking")), PROTOCOL),
    "RST_STREAM of an idle stream": (raw(reset(7)), PROTOCOL),
    "RST_STREAM of stream 0": (raw(reset(0)), PROTOCOL),
    "RST_STREAM of three bytes": (
        lambda good: frame(HEADERS, END_HEADERS, 1, block(good.headers)) + frame(RST_STREAM, 0, 1, b"123"), FRAME_SIZE),
    "WINDOW_UPDATE of three bytes": (raw(frame(8, payload=b"123")), FRAME_SIZE),
    "WINDOW_UPDATE of nothing": (raw(window_update(0, 0)), PROTOCOL),
    "WINDOW_UPDATE of an idle stream": (raw(window_update(9, 1)), PROTOCOL),
    "the connection's window grows beyond 31 bits": (raw(window_update(0, (1 << 31) - 1) * 2), FLOW),
    "GOAWAY on a stream": (raw(frame(GOAWAY, 0, 1, bytes(8))), PROTOCOL),
    "PUSH_PROMISE from a client": (
        lambda good: frame(HEADERS, END_HEADERS, 1, block(good.headers))
        + frame(PUSH_PROMISE, END_HEADERS, 1, struct.pack(">I", 2) + block(good.headers)), PROTOCOL),
}


@pytest.mark.parametrize("name", CONNECTION_ERRORS)
def test_a_broken_frame_is_a_connection_error(name, good, path, lives):
    fault, expected = CONNECTION_ERRORS[name]
    with RawConnection(path["apns"], path["ca"]) as connection:
        connection.write(fault(good))
        assert connection.outcome() == expected
        assert connection.is_closed()


STREAM_OR_CONNECTION_ERRORS = {
    "DATA after the end of the stream": (
        lambda good: good.request() + frame(DATA, END_STREAM, 1, BODY), "STREAM_CLOSED"),
    "HEADERS after the end of the stream": (
        lambda good: good.request() + frame(HEADERS, END_HEADERS | END_STREAM, 1, block(good.headers)),
        "STREAM_CLOSED"),
    "a stream's window grows beyond 31 bits": (
        lambda good: frame(HEADERS, END_HEADERS, 1, block(good.headers)) + window_update(1, (1 << 31) - 1),
        "FLOW_CONTROL_ERROR"),
    "a stream's window grows by nothing": (
        lambda good: frame(HEADERS, END_HEADERS, 1, block(good.headers)) + window_update(1, 0), "PROTOCOL_ERROR"),
    "PRIORITY of four bytes": (
        lambda good: frame(HEADERS, END_HEADERS, 1, block(good.headers)) + frame(PRIORITY, 0, 1, b"1234"),
        "FRAME_SIZE_ERROR"),
    "a second header block that does not end the stream": (
        lambda good: frame(HEADERS, END_HEADERS, 1, block(good.headers)) + frame(DATA, 0, 1, BODY)
        + frame(HEADERS, END_HEADERS, 1, block([("x-a", "b")])), "PROTOCOL_ERROR"),
}


@pytest.mark.parametrize("name", STREAM_OR_CONNECTION_ERRORS)
def test_where_the_rfc_allows_either_error_the_code_is_right(name, good, path, lives):
    fault, code = STREAM_OR_CONNECTION_ERRORS[name]
    with RawConnection(path["apns"], path["ca"]) as connection:
        connection.write(fault(good))
        assert connection.outcome() in (f"reset {code}", f"goaway {code}")


FLOODS = {
    "a header block of 200 kB": lambda good: frame(
        HEADERS, END_STREAM, 1, block(good.headers)) + b"".join(
            frame(CONTINUATION, END_HEADERS if last else 0, 1, block([("x-fill", "x" * 12_000)]))
            for last in [False] * 16 + [True]),
    "three thousand CONTINUATIONs": lambda good: frame(HEADERS, END_STREAM, 1, b"\x82") + frame(
        CONTINUATION, 0, 1, b"") * 3000,
}


@pytest.mark.parametrize("name", FLOODS)
def test_header_floods_are_cut_off(name, good, path, lives):
    with RawConnection(path["apns"], path["ca"]) as connection:
        connection.write(FLOODS[name](good))
        assert connection.outcome() != "200"


def test_a_thousand_streams_reset_at_once_harm_nobody(good, path, lives):
    with RawConnection(path["apns"], path["ca"]) as connection:
        start = block(good.headers)
        for stream in range(1, 2001, 2):
            connection.write(frame(HEADERS, END_HEADERS, stream, start) + reset(stream))
        connection.write(good.request(stream=2001))
        assert connection.outcome(stream=2001) in ("200", "goaway ENHANCE_YOUR_CALM")


IDLE_FRAMES = {
    "WINDOW_UPDATE": lambda stream: window_update(0, 1),
    "WINDOW_UPDATE of a stream that has ended": lambda stream: window_update(1, 1),
    "PRIORITY": lambda stream: frame(PRIORITY, 0, stream + 2000, struct.pack(">IB", 0, 15)),
    "PING": lambda stream: frame(PING, payload=b"knocking"),
    "SETTINGS": lambda stream: frame(SETTINGS),
    "empty DATA": lambda stream: frame(DATA, 0, stream, b""),
    "frames of an unknown type": lambda stream: frame(0xEE, 0, 0, b"anything"),
}


@pytest.mark.parametrize("name", IDLE_FRAMES)
def test_a_flood_of_frames_that_complete_no_request_ends_its_connection(name, good, path, lives):
    with RawConnection(path["apns"], path["ca"]) as connection:
        connection.write(good.request(stream=1))
        assert connection.outcome(stream=1) == "200"
        connection.write(frame(HEADERS, END_HEADERS, 3, block(good.headers)))
        connection.write(IDLE_FRAMES[name](3) * 100)
        assert connection.answers_ping(), "a hundred of them are no flood"
        for _ in range(50):
            connection.write(IDLE_FRAMES[name](3) * 100)
        assert connection.outcome(stream=3) in ("goaway ENHANCE_YOUR_CALM", "closed")
        assert connection.is_closed()


TOLERATED = {
    "a header block in three frames": lambda good: (
        frame(HEADERS, 0, 1, block(good.headers[:2])) + frame(CONTINUATION, 0, 1, block(good.headers[2:4]))
        + frame(CONTINUATION, END_HEADERS, 1, block(good.headers[4:])) + frame(DATA, END_STREAM, 1, BODY)),
    "a body in frames of one byte": lambda good: frame(HEADERS, END_HEADERS, 1, block(good.headers)) + b"".join(
        frame(DATA, 0, 1, BODY[each:each + 1]) for each in range(len(BODY))) + frame(DATA, END_STREAM, 1),
    "padding": lambda good: frame(HEADERS, END_HEADERS | PADDED, 1, b"\x04" + block(good.headers) + bytes(4)) + frame(
        DATA, END_STREAM | PADDED, 1, b"\x04" + BODY + bytes(4)),
    "HEADERS with a priority": lambda good: frame(
        HEADERS, END_HEADERS | WITH_PRIORITY, 1, struct.pack(">IB", 0, 200) + block(good.headers)) + frame(
            DATA, END_STREAM, 1, BODY),
    "a frame of unknown type first": lambda good: frame(0xEE, 0xFF, 0, b"anything") + good.request(),
    "an unknown setting": lambda good: setting(0xABCD, 1) + good.request(),
    "trailers": lambda good: frame(HEADERS, END_HEADERS, 1, block(good.headers)) + frame(DATA, 0, 1, BODY) + frame(
        HEADERS, END_HEADERS | END_STREAM, 1, block([("x-checksum", "1")])),
    "the authority only as host": lambda good: good.request(
        headers=good.without(":authority") + [("host", "api.push.apple.com")]),
    "te: trailers": plus(("te", "trailers")),
}


@pytest.mark.parametrize("name", TOLERATED)
def test_what_the_rfc_allows_is_answered(name, good, path):
    with RawConnection(path["apns"], path["ca"]) as connection:
        connection.write(TOLERATED[name](good))
        assert connection.outcome() == "200"
        assert connection.answers_ping()


@pytest.mark.parametrize("cut", [1, 9, 13, 60])
def test_a_request_split_anywhere_is_answered(cut, good, path):
    with RawConnection(path["apns"], path["ca"]) as connection:
        data = good.request()
        for start in range(0, len(data), cut):
            connection.write(data[start:start + cut])
        assert connection.outcome() == "200"


NOT_HTTP2 = {
    "random bytes": bytes(range(256)),
    "an HTTP/1.1 request": b"POST /3/device/x HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a preface that is wrong at its end": PREFACE[:-4] + b"XX\r\n" + frame(SETTINGS),
    "no SETTINGS after the preface": PREFACE + frame(PING, payload=b"knocking"),
}


@pytest.mark.parametrize("name", NOT_HTTP2)
def test_what_is_not_http2_ends_the_connection(name, path, lives):
    with RawConnection(path["apns"], path["ca"], preface=NOT_HTTP2[name]) as connection:
        assert connection.outcome() in (PROTOCOL, "closed")
        assert connection.is_closed()


def test_half_a_preface_and_goodbye_harms_nobody(path, lives):
    RawConnection(path["apns"], path["ca"], preface=PREFACE[:10]).close()


def test_half_a_request_and_goodbye_harms_nobody(good, path, lives):
    connection = RawConnection(path["apns"], path["ca"])
    connection.write(good.request()[:-10])
    connection.close()


def test_a_peer_that_speaks_no_tls_is_closed(path, lives):
    address = urlsplit(path["apns"])
    with socket.create_connection((address.hostname, address.port), 10) as plain:
        plain.sendall(PREFACE + frame(SETTINGS))
        received = b"more"
        while received:
            try:
                received = plain.recv(4096)
            except ConnectionResetError:
                break


def test_a_peer_that_offers_only_http1_gets_no_http2(path, lives):
    context = verified_context(path["ca"])
    context.set_alpn_protocols(["http/1.1"])
    address = urlsplit(path["apns"])
    with socket.create_connection((address.hostname, address.port), 10) as plain:
        try:
            with context.wrap_socket(plain, server_hostname=address.hostname) as secured:
                secured.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert b"200" not in secured.recv(4096)
        except (ssl.SSLError, ConnectionResetError):
            pass
