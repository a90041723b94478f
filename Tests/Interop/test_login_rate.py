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


def sent_away(server):
    """What the server says by itself to a connection that says nothing; None where it waits for a handshake."""
    with socket.create_connection(address(server), timeout=10) as connection:
        connection.settimeout(0.5)
        said = b""
        try:
            while more := connection.recv(100):
                said += more
        except TimeoutError:
            return None
        return said


def test_those_beyond_the_rate_are_told_before_tls_when_to_come_again(server):
    identity = Identity(*server.control().enrol())
    assert sent_away(server) is None, "nobody has logged in yet"
    # The burst is ten logins. One a second is let in afterwards: on a slow machine some more are.
    with pytest.raises((ssl.SSLError, ConnectionError)) as refused:
        for _ in range(100):
            with Device(server.ready["mcs"], server.ready["ca"]) as device:
                device.login(identity)
    assert "alert internal error" in str(refused.value).lower().replace("_", " "), "what TLS clients read"
    pauses = []
    for _ in range(20):
        said = sent_away(server)
        if said is None:
            continue
        told = WORDS.fullmatch(said)
        assert told, said
        pauses.append(int(told[1]))
        if len(pauses) == 6:
            break
    assert len(pauses) == 6
    assert len(set(pauses)) > 3, f"each has a moment of its own: {pauses}"
    assert max(pauses) <= 450_000
