"""More devices than may log in: they are told before TLS when to come again, and every TLS client understands that it is refused."""

import re
import socket
import ssl

import pytest

from mcs_client import Device, Identity
from own_server import OwnServer

# A fatal alert of TLS, then the hint for agents.
WORDS = re.compile(rb"\x15\x03\x03\x00\x02\x02\x50ALDABA BUSY ([1-9][0-9]{3,5})\n")


@pytest.fixture
def server(tmp_path):
    with OwnServer(tmp_path, "test_login_rate", "--device-logins=1") as running:
        yield running


def address(server):
    host, _, port = server.ready["mcs"].rpartition(":")
    return host, int(port)


def sent_away(server, seconds):
    """What the server says by itself, within some time, to a connection that says nothing; None where it waits for a handshake."""
    with socket.create_connection(address(server), timeout=10) as connection:
        connection.settimeout(seconds)
        said = b""
        try:
            while more := connection.recv(100):
                said += more
        except TimeoutError:
            return said or None
        return said


def use_up(server, identity):
    """Logs in until that is refused before TLS; returns what a TLS client reads of it."""
    # The burst is ten logins. One a second is let in afterwards: on a slow machine some more are.
    with pytest.raises(ssl.SSLError) as refused:
        for _ in range(100):
            with Device(server.ready["mcs"], server.ready["ca"]) as device:
                device.login(identity)
    return str(refused.value).lower().replace("_", " ")


def test_those_beyond_the_rate_are_told_before_tls_when_to_come_again(server):
    identity = Identity(*server.control().enrol())
    assert sent_away(server, 0.5) is None, "nobody has logged in yet"
    assert "alert internal error" in use_up(server, identity)
    pauses = []
    for _ in range(20):
        said = sent_away(server, 5)
        if said is None:  # The rate has brought a place meanwhile, and now more of them.
            use_up(server, identity)
            continue
        told = WORDS.fullmatch(said)
        assert told, said
        pauses.append(int(told[1]))
        if len(pauses) == 6:
            break
    assert len(pauses) == 6
    assert len(set(pauses)) > 3, f"each has a moment of its own: {pauses}"
    assert max(pauses) <= 450_000


def test_connections_that_say_nothing_send_nobody_away(server):
    identity = Identity(*server.control().enrol())
    silent = [socket.create_connection(address(server), timeout=10) for _ in range(50)]
    try:
        for _ in range(8):  # Of a burst of ten.
            with Device(server.ready["mcs"], server.ready["ca"]) as device:
                assert device.login(identity).message.get(3) is None
    finally:
        for each in silent:
            each.close()
