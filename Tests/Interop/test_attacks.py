"""Peers that mean harm, one fault each: what they do costs little, ends their own connection at most, and is told."""

import re
import socket
import ssl
from urllib.parse import urlsplit

import pytest

from h2_client import H2Client, open_tls
from mcs_client import DATA as STANZA
from mcs_client import LOGIN, LOGIN_RESPONSE, Device, Identity, encode, varint
from own_server import ENROLMENT_KEY, TOPIC, OwnServer
from raw_http2 import CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, RawConnection, block, frame, reset
from waiting import wait_until

BODY = b'{"aps":{"alert":"in between"}}'
CALM = "ENHANCE_YOUR_CALM"
FRAME_LIMIT = 16_384
FIRST_DYNAMIC = b"\xbe"  # one byte: the newest entry of the dynamic table, name and value (RFC 7541, 6.1)
MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = OwnServer(tmp_path_factory.mktemp("attacks"), "test_attacks", log_level="trace")
    made.add_app()
    made.key()
    with made as running:
        yield running


@pytest.fixture(scope="module")
def identity(server):
    return Identity(*server.control().enrol())


@pytest.fixture(scope="module")
def token(server, identity):
    return server.control().token((identity.device, identity.secret), TOPIC, server.key().team, "production")


@pytest.fixture
def bystander(server, token):
    """A provider that was there before the attack; it and a new one must be served after it."""
    where, headers = f"/3/device/{token}", server.provider().headers()
    with H2Client(server.ready["apns"], server.ready["ca"]) as before:
        assert before.request("POST", where, headers, BODY).status == 200
        yield before
        assert before.request("POST", where, headers, BODY).status == 200
    with H2Client(server.ready["apns"], server.ready["ca"]) as after:
        assert after.request("POST", where, headers, BODY).status == 200


def attacker(server):
    return RawConnection(server.ready["apns"], server.ready["ca"])


def request(server, token):
    """The header fields of a good request."""
    return [
        (":method", "POST"), (":scheme", "https"), (":authority", urlsplit(server.ready["apns"]).netloc),
        (":path", f"/3/device/{token}"), *server.provider().headers()]


def remembered(name, value):
    """A field that the decoder is to keep in its dynamic table (RFC 7541, 6.2.1)."""
    return b"\x40" + block([(name, value)])[1:]


def in_frames(stream, data, flags=END_STREAM):
    """A header block as HEADERS and as many CONTINUATIONs as it needs."""
    pieces = [data[start:start + FRAME_LIMIT] for start in range(0, len(data), FRAME_LIMIT)]
    kinds = [HEADERS] + [CONTINUATION] * (len(pieces) - 1)
    return b"".join(
        frame(kind, (flags if kind == HEADERS else 0) | (END_HEADERS if piece is pieces[-1] else 0), stream, piece)
        for kind, piece in zip(kinds, pieces))


# --- header compression ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", [True, False], ids=["requests that end", "requests that are left open"])
def test_a_small_block_that_means_a_very_large_one_is_reset_and_then_the_connection_ends(
    server, token, bystander, ends
):
    head = block(request(server, token))
    with attacker(server) as connection:
        connection.write(
            frame(HEADERS, END_HEADERS, 1, head + remembered("x-fill", "x" * 3900)) + frame(DATA, END_STREAM, 1, BODY))
        assert connection.outcome(stream=1) == "200", "one large field is nobody's fault"
        outcomes = []
        while not outcomes or outcomes[-1].startswith("reset"):
            assert len(outcomes) < 9, outcomes
            stream = 2 * len(outcomes) + 3
            connection.write(in_frames(stream, head + FIRST_DYNAMIC * 8000, END_STREAM if ends else 0))
            outcomes.append(connection.outcome(stream=stream))
        assert outcomes[0] == f"reset {CALM}", outcomes
        assert set(outcomes[:-1]) == {f"reset {CALM}"} and outcomes[-1] == f"goaway {CALM}", outcomes
        assert connection.is_closed()


def test_many_such_blocks_at_once_end_the_connection(server, token, bystander):
    head = block(request(server, token))
    with attacker(server) as connection:
        connection.write(
            frame(HEADERS, END_HEADERS, 1, head + remembered("x-fill", "x" * 3900)) + frame(DATA, END_STREAM, 1, BODY))
        bad = head + FIRST_DYNAMIC * 8000
        for stream in range(3, 403, 2):
            connection.write(in_frames(stream, bad))
        # The goodbye may be lost: what the server has not read by then makes its kernel cut the connection.
        assert connection.outcome(stream=401) in (f"goaway {CALM}", "closed")
        assert connection.is_closed()


SMALL_FIELDS = {
    "written out": lambda count: block([("a", "")]) * count,
    "from the table": lambda count: remembered("a", "") + FIRST_DYNAMIC * (count - 1),
}


@pytest.mark.parametrize("count", [1000, 8000])
@pytest.mark.parametrize("name", SMALL_FIELDS)
def test_many_fields_of_one_byte_count_as_what_they_cost(server, token, bystander, name, count):
    """A field costs 32 bytes beside its own (RFC 9113, section 6.5.2, on SETTINGS_MAX_HEADER_LIST_SIZE)."""
    with attacker(server) as connection:
        head = block(request(server, token)) + SMALL_FIELDS[name](count)
        connection.write(in_frames(1, head, 0) + frame(DATA, END_STREAM, 1, BODY))
        assert connection.outcome(stream=1) == f"reset {CALM}"


@pytest.mark.parametrize("name", SMALL_FIELDS)
def test_a_few_dozen_fields_of_one_byte_are_nobody_s_fault(server, token, name):
    with attacker(server) as connection:
        head = block(request(server, token)) + SMALL_FIELDS[name](50)
        connection.write(in_frames(1, head, 0) + frame(DATA, END_STREAM, 1, BODY))
        assert connection.outcome(stream=1) == "200"


def test_large_headers_of_many_open_streams_take_little_memory_and_only_for_a_while(server, token, bystander):
    head = block(request(server, token) + [("x-fill", "x" * 7000)])

    def leave_open(connection, count):
        for stream in range(1, 2 * count, 2):
            connection.write(frame(HEADERS, END_HEADERS, stream, head))
        assert connection.answers_ping()

    # The memory that a connection needs in any case is taken by one with few streams.
    with attacker(server) as connection:
        leave_open(connection, 10)
    before = server.own_memory()
    with attacker(server) as connection:
        leave_open(connection, 1000)
        grown = server.own_memory() - before
        assert grown < 16 * MEGABYTE, f"{grown / MEGABYTE:.1f} MB for 1,000 open streams"
    wait_until(
        lambda: server.own_memory() - before < 4 * MEGABYTE or None,
        f"the memory is given back; it had grown by {grown / MEGABYTE:.1f} MB")


def test_streams_that_are_opened_and_reset_again_and_again_take_no_memory(server, token, bystander):
    head = block(request(server, token) + [("x-fill", "x" * 7000)])

    def open_and_reset():
        with attacker(server) as connection:
            for stream in range(1, 1001, 2):
                connection.write(frame(HEADERS, END_HEADERS, stream, head) + reset(stream))
            assert connection.outcome(stream=1001) in (f"goaway {CALM}", "closed") or connection.answers_ping()

    open_and_reset()
    before = server.own_memory()
    for _ in range(5):
        open_and_reset()
    assert server.own_memory() - before < 4 * MEGABYTE


# --- the device channel before the login ----------------------------------------------------------------------


def device(server):
    return Device(server.ready["mcs"], server.ready["ca"])


def login_body(connection, identity, extra=b""):
    return connection.login_body(identity) + extra


def is_cut_off(connection):
    """Whether the server ends the connection without a welcome."""
    packets = connection.closed_by_server()
    return all(packet.tag != LOGIN_RESPONSE or packet.message.get(3) is not None for packet in packets)


@pytest.mark.parametrize("size", [17 << 10, 200 << 10])
def test_a_login_that_announces_a_great_size_is_cut_off_before_it_comes(server, identity, size):
    with device(server) as connection:
        connection.send_raw(bytes([41, LOGIN]) + varint(size))
        assert is_cut_off(connection)


def test_a_login_of_more_than_16_kilobytes_is_cut_off(server, identity):
    with device(server) as connection:
        body = login_body(connection, identity, encode(*((10, "") for _ in range(1)), (1, "x" * (17 << 10))))
        connection.send_raw(bytes([41, LOGIN]) + varint(len(body)))
        try:
            connection.send_raw(body)
        except OSError:
            pass
        assert is_cut_off(connection)


REPEATED = {
    "empty settings": encode(*((8, b"") for _ in range(5000))),
    "settings of one letter": encode(*((8, encode((1, "a"))) for _ in range(2500))),
    "empty names of what it has": encode(*((10, "") for _ in range(5000))),
}


@pytest.mark.parametrize("name", REPEATED)
def test_a_login_of_thousands_of_empty_parts_is_cut_off(server, identity, name):
    with device(server) as connection:
        body = login_body(connection, identity, REPEATED[name])
        assert len(body) < 16 << 10
        connection.send(LOGIN, body, prefix=b"\x29")
        assert is_cut_off(connection)


def test_thousands_of_packets_behind_a_login_end_that_connection_alone(server, identity):
    with device(server) as connection:
        flood = b"".join(bytes([STANZA]) + varint(0) for _ in range(5000))
        body = login_body(connection, Identity(identity.device, identity.secret ^ 1))
        connection.send_raw(bytes([41, LOGIN]) + varint(len(body)) + body + flood)
        assert is_cut_off(connection)


def test_a_device_logs_in_after_all_that(server, identity):
    with device(server) as connection:
        assert connection.login(identity, [str(number) for number in range(1, 100)]).message.get(3) is None


# --- the control API ------------------------------------------------------------------------------------------

CHUNKED = b"POST /checkin HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
MALFORMED_BODIES = {
    "a chunk size that is a word": b"many\r\n{}\r\n0\r\n\r\n",
    "a negative chunk size": b"-2\r\n{}\r\n0\r\n\r\n",
    "a chunk size without end": b"f" * 100 + b"\r\n{}\r\n0\r\n\r\n",
    "a chunk size of 64 bits": b"ffffffffffffffff\r\n{}\r\n0\r\n\r\n",
    "no chunk size": b"\r\n{}\r\n0\r\n\r\n",
    "a chunk longer than its size": b"2\r\n{\"android_id\":0}\r\n0\r\n\r\n",
    "noise where a chunk begins": b"2\r\n{}\r\n\xff\xfe\xfd\r\n\r\n",
    "a null byte in the chunk size": b"2\0\r\n{}\r\n0\r\n\r\n",
}


def exchange(server, data):
    """What the secured control listener answers to some bytes; reads until it closes or has said enough."""
    with open_tls(server.ready["control"], server.ready["ca"], protocols=()) as secured:
        secured.sendall(data)
        received = b""
        try:
            while b"\r\n\r\n" not in received and (piece := secured.recv(65536)):
                received += piece
        except (ssl.SSLError, ConnectionResetError):
            pass
    return received


def errors_of(server):
    return [line for line in server.log_lines() if re.search(r"\b(error|critical)\b", line.split(":", 3)[2][:20])]


@pytest.mark.parametrize("name", MALFORMED_BODIES)
def test_a_malformed_chunked_body_is_the_caller_s_fault(server, name):
    before = server.log_lines()
    answer = exchange(server, CHUNKED + MALFORMED_BODIES[name])
    assert answer.startswith(b"HTTP/1.1 400 "), answer
    assert server.control().request("GET", "/health")[0] == 200
    told = server.log_lines()[len(before):]
    assert [line for line in told if LOG_LINE.match(line)["level"] in ("error", "critical")] == []


def test_a_chunked_body_that_is_broken_off_is_no_error_of_the_server_s(server):
    before = server.log_lines()
    for data in (b"", b"5", b"5\r\n", b"5\r\n{\"a", b"2\r\n{}\r\n"):
        with open_tls(server.ready["control"], server.ready["ca"], protocols=()) as secured:
            secured.sendall(CHUNKED + data)
    for _ in range(3):
        assert server.control().request("GET", "/health")[0] == 200
    told = server.log_lines()[len(before):]
    assert [line for line in told if LOG_LINE.match(line)["level"] in ("error", "critical")] == []


# --- the log --------------------------------------------------------------------------------------------------

LOG_LINE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S* (?P<level>trace|debug|info|notice|warning|error|critical) ?\S* ?.*: ?.*")
FORGED = "2026-01-01T00:00:00+0000 error forged : [forged] by whoever asked"
ENCODED = "%0A" + FORGED.replace(" ", "%20").replace("[", "%5B").replace("]", "%5D")
FORM = (
    "POST /c2dm/register3 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    "Authorization: {authorization}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{form}")


def get(path, *headers):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{''.join(headers)}\r\n".encode()


def registering(form, authorization="AidLogin 1:1"):
    return FORM.format(form=form, length=len(form), authorization=authorization).encode()


FORGERIES = {
    "a path with an encoded new line": lambda identity: get(f"/v1/notifications/x{ENCODED}"),
    "a path with a new line": lambda identity: get(f"/v1/notifications/x\n{FORGED}"),
    "a path with a carriage return": lambda identity: get(f"/v1/notifications/x\r{FORGED}"),
    "an unknown path with an encoded new line": lambda identity: get(f"/x{ENCODED}"),
    "a header with a new line": lambda identity: get("/health", f"X-Note: a\n{FORGED}\r\n"),
    "an authorization with an encoded new line": lambda identity: get(
        "/v1/notifications/x", f"Authorization: bearer a{ENCODED}\r\n"),
    "an app's name with an encoded new line": lambda identity: registering(
        f"app=com.example{ENCODED}&sender=OWNTEAM001", f"AidLogin {identity.device}:{identity.secret}"),
    "a team's name with an encoded new line": lambda identity: registering(
        f"app={TOPIC}&sender=OWN{ENCODED}", f"AidLogin {identity.device}:{identity.secret}"),
    "a method with a new line": lambda identity: f"GE\n{FORGED}T / HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_nobody_outside_begins_a_line_of_the_log(server, identity, name):
    before = len(server.log_lines())
    exchange(server, FORGERIES[name](identity))
    assert server.control().request("GET", "/health")[0] == 200
    told = server.log_lines()[before:]
    assert [line for line in told if not LOG_LINE.match(line) or line.startswith(FORGED[:19])] == []


def test_no_name_in_a_login_begins_a_line_of_the_log(server, identity):
    before = len(server.log_lines())
    with device(server) as connection:
        text = f"x\n{FORGED}"
        connection.send(LOGIN, encode(
            (1, text), (2, text), (3, text), (4, text), (5, text), (6, text), (8, encode((1, text), (2, text)))),
            prefix=b"\x29")
        assert is_cut_off(connection)
    with device(server) as connection:
        connection.login(identity)
        connection.send_upstream(text, text, text.encode())
        connection.wait_confirmed(connection.sent_count)
    told = server.log_lines()[before:]
    assert [line for line in told if not LOG_LINE.match(line) or line.startswith(FORGED[:19])] == []
