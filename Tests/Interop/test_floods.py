"""Very many connections from one address: a server that has no room for them stays at rest, and serves others."""

import fcntl
import re
import resource
import select
import socket
import ssl
import time
from http.client import HTTPSConnection

import pytest

from h2_client import ConnectionEnded, H2Client
from log_lines import Log
from mcs_client import Closed, Device, Identity
from own_server import TOPIC, OwnServer
from waiting import wait_until

OPEN_FILES, FLOOD = 1024, 1500
HIGH = 2000
NEEDED = HIGH + 2 * FLOOD + 100
ATTACKER = "127.0.0.9"
BODY = b'{"aps":{"alert":"all the same"}}'
PATIENCE = 60  # seconds; an unproven connection may stay half as long


@pytest.fixture(scope="module", autouse=True)
def room():
    """This process holds the other ends."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < NEEDED:
        pytest.skip(f"needs {NEEDED} open files, may have {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, NEEDED), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def server(tmp_path, request):
    made = OwnServer(tmp_path, request.node.name.split("[")[0], open_files=OPEN_FILES)
    made.add_app()
    made.key()
    with made as running:
        yield running


class World:
    """A device and a provider of the server, which come before, during and after a flood."""

    def __init__(self, server):
        self.server = server
        control = server.control()
        self.identity = Identity(*control.enrol())
        token = control.token(
            (self.identity.device, self.identity.secret), TOPIC, server.key().team, "production")
        self.where, self.headers = f"/3/device/{token}", server.provider().headers()

    def log_in(self, timeout=10.0):
        device = Device(self.server.ready["mcs"], self.server.ready["ca"], timeout=timeout)
        assert device.login(self.identity).message.get(3) is None
        return device

    def connect(self):
        return H2Client(self.server.ready["apns"], self.server.ready["ca"])

    def sends(self, client):
        return client.request("POST", self.where, self.headers, BODY).status == 200

    def carries(self):
        """Whether a new provider and a new device are served, the one's notification reaching the other."""
        try:
            self.server.control().enrol()
            with self.log_in() as device, self.connect() as client:
                assert self.sends(client)
                device.acknowledge_stream(device.notification().stream_id)
                device.ping()
                return True
        except (OSError, Closed, ConnectionEnded, TimeoutError):
            return False


class Flood:
    """Plain TCP connections from one address on which nothing is ever said."""

    def __init__(self, port, count=FLOOD):
        self.sockets = []
        for _ in range(count):
            with socket.socket() as low:
                # High descriptors, since the clients of the tests know of 1,024 (select(2)).
                each = socket.socket(fileno=fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, HIGH))
            each.setblocking(False)
            each.bind((ATTACKER, 0))
            each.connect_ex(("127.0.0.1", port))
            self.sockets.append(each)

    def ended(self):
        """The descriptors of those that the server has closed."""
        poll = select.poll()
        for each in self.sockets:
            poll.register(each, select.POLLIN | select.POLLHUP)
        return {descriptor for descriptor, _ in poll.poll(0)}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in self.sockets:
            each.close()


def settled(server, seconds=20):
    """Waits until the server has done what there is to do: its descriptors stay as many for a second."""
    seen = [-1]

    def same():
        before, seen[0] = seen[0], server.open_descriptors()
        return before == seen[0]

    deadline = time.monotonic() + seconds
    while not same():
        assert time.monotonic() < deadline, f"the server does not settle at {seen[0]} descriptors"
        time.sleep(1)


def test_as_many_devices_as_there_is_room_for_may_all_be_on_their_way_in(server):
    """After a restart all devices come at once: none may give way to another while the listener is not full."""
    with Flood(server.addresses["devicePort"], OPEN_FILES // 2 - 12) as flood:
        settled(server)
        assert flood.ended() == set()


def test_the_limit_of_open_files_is_raised_as_far_as_it_may_be(server):
    assert server.open_files_limit() == OPEN_FILES
    with Flood(server.addresses["devicePort"], OPEN_FILES // 2):
        settled(server)
        assert server.open_descriptors() > OPEN_FILES // 4, "the listeners' shares are those of the raised limit"


@pytest.mark.parametrize("flags, served", [
    ((), True), (("--connections-per-address=2", "--proxies=none"), False),
    (("--connections-per-address=2", "--proxies=127.0.0.0/8"), True),
    (("--connections-per-address=2", "--proxies=10.0.0.0/8"), False),
])
@pytest.mark.parametrize("listener", ["device", "apns", "control"])
def test_one_address_has_as_many_connections_as_it_may_and_a_proxy_more(tmp_path, listener, flags, served):
    with OwnServer(tmp_path, "test_floods_of_one_address", *flags) as server:
        port = server.addresses[f"{listener}Port"]
        with Flood(port, 2) as first:
            settled(server)
            with Flood(port, 1) as more:
                if served:
                    settled(server)
                    assert not more.ended()
                else:
                    wait_until(more.ended, "one too many is closed at once", 5)
                assert not first.ended()


@pytest.mark.parametrize("listener", ["device", "apns", "control"])
def test_a_server_without_a_descriptor_left_rests_tells_and_serves_again(server, listener):
    world, log = World(server), Log(server.log)
    with world.log_in() as old_device, world.connect() as old_provider:
        assert world.sends(old_provider)
        with Flood(server.addresses[f"{listener}Port"]):
            settled(server)
            before = server.processor_seconds()
            time.sleep(2)
            used = server.processor_seconds() - before
            assert used < 0.5, f"{used:.2f} s of processor time in 2 s without traffic"
            wait_until(
                lambda: any(re.search("connection|descriptor|open files", each) for each in log.of("warning", "error")),
                "the server says that it has no room")
            assert len(log.of("warning", "error")) < 100, "it does not say so for each"
            # Whoever was there before is not harmed.
            assert world.sends(old_provider)
            old_device.ping()
            wait_until(world.carries, "a device and a provider are served although the flood goes on", PATIENCE)
        wait_until(world.carries, "all works when the flood has gone", PATIENCE)
        settled(server)
        assert server.open_descriptors() < 100, "the flood's descriptors were given back"


@pytest.mark.parametrize("listener", ["device", "apns", "control"])
def test_idle_connections_give_way_to_new_ones_the_oldest_first(server, listener):
    """At once, without waiting until their time is over: with patience alone an address could keep all others out."""
    world = World(server)
    with Flood(server.addresses[f"{listener}Port"]) as flood:
        assert world.carries(), "served at once"
        wait_until(lambda: len(flood.sockets) - len(flood.ended()) < OPEN_FILES, "the older ones were closed", PATIENCE)
        assert len(flood.ended()) < len(flood.sockets)
        if listener != "control":  # its backlog is short, so that not all come in the order of their making
            assert flood.sockets[-1].fileno() not in flood.ended(), "the newest is still there"
        for _ in range(3):
            assert world.carries()


CONTROL_CONNECTIONS = (OPEN_FILES - 96) // 8


def test_reading_a_public_document_proves_nobody(server):
    """Connections that were served without a credential give way: only a credential keeps a connection."""
    world = World(server)
    context = ssl.create_default_context(cafile=server.ready["ca"])
    readers = []
    try:
        for _ in range(CONTROL_CONNECTIONS + 40):
            reader = HTTPSConnection("127.0.0.1", server.addresses["controlPort"], context=context, timeout=10)
            reader.request("GET", "/v1/openapi.json")
            answer = reader.getresponse()
            assert answer.status == 200 and len(answer.read()) > 1000
            readers.append(reader)
        assert world.carries(), "a device enrols although the readers hold every slot"
    finally:
        for reader in readers:
            reader.close()


def test_a_proven_connection_does_not_give_way(server):
    """Neither a provider that was answered, nor a device that is logged in, however long they are silent."""
    world = World(server)
    with world.log_in() as device, world.connect() as provider:
        assert world.sends(provider)
        device.notification()
        for _ in range(2):
            with Flood(server.addresses["apnsPort"]), Flood(server.addresses["devicePort"]):
                settled(server)
        assert world.sends(provider)
        device.notification()
