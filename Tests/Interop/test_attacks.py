"""Peers that mean harm, one fault each: what they do costs little, ends their own connection at most, and is told."""

from urllib.parse import urlsplit

import pytest

from h2_client import H2Client, open_tls
from log_lines import Log
from mcs_client import DATA as STANZA
from mcs_client import LOGIN, LOGIN_RESPONSE, Device, Identity, encode, varint
from own_server import TOPIC, OwnServer
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


def left_open(server, connection, head, count=1000):
    """Opens so many streams and ends none; returns the most memory that the server had meanwhile.

    The server may end the connection before the last of them.
    """
    most, streams = 0, range(1, 2 * count, 2)
    for start in range(0, count, 50):
        connection.write(b"".join(frame(HEADERS, END_HEADERS, each, head) for each in streams[start:start + 50]))
        if not connection.answers_ping():
            break
        most = max(most, server.own_memory())
    return most


def take_much(server, token, connections):
    """Leaves a thousand streams with large headers open on so many connections; returns the most memory meanwhile."""
    head = block(request(server, token) + [("x-fill", "x" * 7000)])
    opened = [attacker(server) for _ in range(connections)]
    most = max(left_open(server, each, head) for each in opened)
    for each in opened:
        each.close()
    return most


@pytest.mark.parametrize("connections, allowed", [(1, 16 * MEGABYTE), (8, 32 * MEGABYTE)])
def test_large_headers_of_many_open_streams_take_little_memory(server, token, bystander, connections, allowed):
    grown = -server.own_memory() + take_much(server, token, connections)
    assert grown < allowed, f"{grown / MEGABYTE:.1f} MB for 1,000 open streams on {connections} connections"


def test_memory_that_an_attack_took_is_there_for_the_next(server, token, bystander):
    """What the C library keeps for later is not told from what was lost, but by doing it again and again."""
    take_much(server, token, 1)
    before = server.own_memory()
    for _ in range(15):
        take_much(server, token, 1)
    grown = server.own_memory() - before
    assert grown < 16 * MEGABYTE, f"{grown / MEGABYTE:.1f} MB more after 15,000 streams"


def test_memory_that_an_attack_took_goes_back_to_the_system(server, token, bystander):
    small = block(request(server, token)) + block([("a", "")]) * 55
    opened = [attacker(server) for _ in range(30)]
    most = max(left_open(server, each, small) for each in opened)
    assert most > 60 * MEGABYTE, "so much that it is seen whether it goes"
    for each in opened:
        each.close()
    wait_until(lambda: server.own_memory() < 40 * MEGABYTE, "the memory has gone back", 30)


def test_streams_that_are_opened_and_reset_again_and_again_take_no_memory(server, token, bystander):
    head = block(request(server, token) + [("x-fill", "x" * 7000)])

    def open_and_reset():
        with attacker(server) as connection:
            for stream in range(1, 2001, 2):
                connection.write(frame(HEADERS, END_HEADERS, stream, head) + reset(stream))
            # Whether the server goes on with such a peer is its own affair.
            connection.answers_ping()

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

CHUNKED = (
    b"POST /checkin HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n")
MALFORMED_BODIES = {
    "a chunk size that is a word": b"many\r\n{}\r\n0\r\n\r\n",
    "a negative chunk size": b"-2\r\n{}\r\n0\r\n\r\n",
    "a chunk size without end": b"f" * 100 + b"\r\n{}\r\n0\r\n\r\n",
    "no chunk size": b"\r\n{}\r\n0\r\n\r\n",
    "a chunk longer than its size": b'2\r\n{"android_id":0}\r\n0\r\n\r\n',
    "noise where a chunk begins": b"2\r\n{}\r\n\xff\xfe\xfd\r\n\r\n",
    "a null byte in the chunk size": b"2\0\r\n{}\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("name", MALFORMED_BODIES)
def test_a_malformed_chunked_body_is_the_caller_s_fault(server, name):
    log = Log(server.log)
    answer = server.exchange_with_control(CHUNKED + MALFORMED_BODIES[name])
    assert answer.startswith(b"HTTP/1.1 400 "), answer
    assert server.control().request("GET", "/health")[0] == 200
    assert log.of("error", "critical") == []


@pytest.mark.parametrize("sent", [b"", b"5", b"5\r\n", b'5\r\n{"a', b"2\r\n{}\r\n"])
def test_a_chunked_body_that_is_broken_off_is_no_error_of_the_server_s(server, sent):
    log = Log(server.log)
    with open_tls(server.ready["control"], server.ready["ca"], protocols=()) as secured:
        secured.sendall(CHUNKED + sent)
    wait_until(lambda: any("Connection closed" in line for line in log.lines()), "the server has seen the end")
    assert log.of("error", "critical") == []
