"""The rules of Chromium's client that the agent follows too, by a server that does what the test says."""

import time

import pytest

from mcs_client import CLOSE, PING, PONG, Closed
from own_agent import OwnAgent
from scripted_server import ScriptedServer

# Own agents begin with pauses of at most so many seconds.
FIRST_PAUSE = 0.05
STEADY = 10


@pytest.fixture
def scripted(up, request):
    certificates = up.data / "certificates"
    server = ScriptedServer(certificates / "server.pem", certificates / "server-key.pem")
    agent = OwnAgent(up, request.node.name, device_port=server.port)
    agent.start()
    yield server
    agent.stop()
    server.stop()


def pauses_after(server, count, end):
    """How long the agent stayed away after each of so many sessions, which `end` ends."""
    pauses = []
    connection = server.next()
    for _ in range(count):
        end(connection)
        connection.cut()
        ended = time.monotonic()
        connection = server.next()
        pauses.append(connection.opened_at - ended)
    connection.cut()
    return pauses


def has_grown(pauses):
    # Each is drawn from a range that doubles: that none of eight leaves the first range is one of 2^28.
    return max(pauses) > 4 * FIRST_PAUSE


@pytest.mark.parametrize("code", [401, 503, 1])
def test_refused_logins_are_tried_again_after_longer_pauses(scripted, code):
    assert has_grown(pauses_after(scripted, 8, lambda connection: connection.answer(error=code)))


def test_sessions_that_end_after_their_login_are_failures_too(scripted):
    assert has_grown(pauses_after(scripted, 8, lambda connection: connection.answer()))


def test_a_close_of_the_servers_is_followed_by_another_login(scripted):
    def close(connection):
        connection.answer()
        connection.send(CLOSE)

    assert len(pauses_after(scripted, 2, close)) == 2


def test_a_session_that_lasted_begins_the_pauses_anew(scripted):
    pauses_after(scripted, 7, lambda connection: connection.answer())
    connection = scripted.next()
    connection.answer(heartbeat=1000)
    end = connection.opened_at + STEADY + 1
    while time.monotonic() < end:
        if connection.receive().tag == PING:
            connection.send(PONG)
    connection.cut()
    ended = time.monotonic()
    # One draw of the first range, and the time that TLS takes on a busy machine.
    assert scripted.next().opened_at - ended < FIRST_PAUSE + 2


def test_the_heartbeats_interval_is_the_servers_and_everything_postpones_it(scripted):
    connection = scripted.next()
    connection.answer(heartbeat=1500)
    heard = time.monotonic()
    assert connection.receive_kind(PING).tag == PING
    assert time.monotonic() - heard >= 1.4
    connection.send(PONG)
    for _ in range(3):
        # Less than the interval: whatever comes puts off the next.
        with pytest.raises(TimeoutError):
            connection.receive_kind(PING, timeout=1)
        connection.send(PING)
        heard = time.monotonic()
        assert connection.receive_kind(PONG).tag == PONG
    assert connection.receive_kind(PING).tag == PING
    assert time.monotonic() - heard >= 1.4


def test_bytes_that_are_no_packets_end_the_session(scripted):
    connection = scripted.next()
    connection.answer()
    connection.send_raw(b"\xff\xff\xff\xff\xff\xff\xff")
    with pytest.raises(Closed):
        while True:
            connection.receive()
    assert scripted.next()
