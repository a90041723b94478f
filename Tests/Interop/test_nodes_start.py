"""How servers of one database begin: all at once, in the wrong order, beside a NATS server that says nothing."""

import contextlib
import json
import socket
import threading

import pytest

from mcs_client import Device, Identity
from nats_server import PROGRAM, NATSServer
from own_server import TEAM, TOPIC, OwnServer
from postgres_server import PROGRAMS, PostgresServer
from test_nodes import metric
from waiting import wait_until

pytestmark = pytest.mark.skipif(
    PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")


@pytest.fixture
def parts():
    with contextlib.ExitStack() as stack:
        database, nats = PostgresServer().start(), NATSServer().start()
        stack.callback(database.remove)
        stack.callback(nats.remove)
        yield database, nats


@contextlib.contextmanager
def stopped_at_end(servers):
    try:
        yield servers
    finally:
        for server in servers:
            if server.process is not None and server.process.poll() is None:
                server.stop()


def enrol(server, key):
    control = server.control(key)
    device = control.enrol()
    return device, control.token(device, TOPIC, TEAM, "production")


def push(server, key, token, text):
    sender = server.provider(key)
    try:
        wait_until(lambda: sender.post(token, {"aps": {"alert": text}}).status == 200, "the push is accepted")
    finally:
        sender.close()


def receives(server, device, text):
    with Device(server.ready["mcs"], server.ready["ca"]) as channel:
        channel.login(Identity(*device))
        assert json.loads(channel.notification(timeout=10).payload)["aps"]["alert"] == text


def test_three_servers_that_begin_at_once_have_the_same_keys(parts, tmp_path):
    database, nats = parts
    servers = [
        OwnServer(tmp_path / str(number), f"test_nodes_start_{number}", "--postgres", database.url, "--nats", nats.url)
        for number in range(3)]
    with stopped_at_end(servers):
        threads = [threading.Thread(target=server.start) for server in servers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert all(server.ready for server in servers), [server.log_tail() for server in servers]
        servers[0].add_app()
        key = servers[0].key()
        device, token = enrol(servers[1], key)
        push(servers[2], key, token, "any")
        receives(servers[0], device, "any")


def test_a_server_without_the_keys_does_not_make_others(parts, tmp_path):
    """A server that was alone has given out device tokens; another one, started first with `nats`, would not know them."""
    database, nats = parts
    alone = OwnServer(tmp_path / "0", "test_nodes_start_alone", "--postgres", database.url)
    other = OwnServer(tmp_path / "1", "test_nodes_start_other", "--postgres", database.url, "--nats", nats.url)
    with stopped_at_end([alone, other]):
        alone.start()
        alone.add_app()
        key = alone.key()
        device, token = enrol(alone, key)
        alone.stop()
        with pytest.raises(AssertionError, match="start that one first"):
            other.start()
        alone._flags += ["--nats", nats.url]
        alone.start()
        other.start()
        push(other, key, token, "known")
        receives(other, device, "known")


def test_a_nats_server_that_says_nothing_is_left_for_the_next(parts, tmp_path):
    database, nats = parts
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        url = f"nats://127.0.0.1:{silent.getsockname()[1]},{nats.url}"
        server = OwnServer(tmp_path, "test_nodes_start_silent", "--postgres", database.url, "--nats", url)
        with server:
            wait_until(lambda: metric(server, "aldaba_carrier_connected") == 1, "the next server is used", 15)
            assert "did not accept a login within three seconds" in "".join(map(str, server.log_lines()))


def test_a_device_of_a_server_that_has_just_begun_gets_what_another_accepts(parts, tmp_path):
    database, nats = parts
    first, second = (
        OwnServer(tmp_path / str(number), f"test_nodes_new_{number}", "--postgres", database.url, "--nats", nats.url)
        for number in range(2))
    with stopped_at_end([first, second]):
        first.start()
        first.add_app()
        key = first.key()
        device, token = enrol(first, key)
        sender = first.provider(key)
        wait_until(lambda: sender.post(token, {"aps": {"alert": "0"}}, **{"apns-expiration": "0"}).status == 200, "the key is known")
        second.start()
        with Device(second.ready["mcs"], second.ready["ca"]) as channel:
            channel.login(Identity(*device))
            for number in range(3):
                assert sender.post(token, {"aps": {"alert": str(number)}}).status == 200
                got = channel.notification(timeout=3)
                assert json.loads(got.payload)["aps"]["alert"] == str(number)
                channel.acknowledge_selectively([got.persistent_id])
        sender.close()
