"""SIGTERM ends a server at once, though an agent and a provider are connected, time and again."""

import http.client
import json
import time
from contextlib import closing

import pytest

from aldaba_process import AldabaUp, clean_environment
from h2_client import H2Client, open_tls, verified_context
from mcs_client import CLOSE, Device, Identity
from own_agent import OwnAgent
from own_server import ENROLMENT_KEY, TEAM, TOPIC, OwnServer
from waiting import wait_until

TIMES = 10
LIMIT = 3.0  # seconds; well under two are expected


@pytest.fixture
def server(tmp_path, request):
    made = OwnServer(tmp_path, request.node.name.split("[")[0])
    made.add_app()
    made.key()
    made.start()
    yield made
    made.kill()


def test_a_server_ends_at_once_while_an_agent_is_connected(server):
    environment = clean_environment() | {"ALDABA_ENROLMENT_KEY": ENROLMENT_KEY, "ALDABA_PRESENTER": "headless"}
    agent = OwnAgent(server, "test_stop", environment)
    agent.start()
    try:
        took = []
        for number in range(TIMES):
            if number:
                server.start()
            wait_until(
                lambda: json.loads(agent.aldaba("agent", "status", "--json").stdout)["isConnected"],
                "the agent is connected", 60)
            took.append(server.stop())
        assert max(took) < LIMIT, [f"{each:.2f} s" for each in took]
    finally:
        agent.stop()


def test_a_server_ends_at_once_beside_a_device_that_does_not_close(server):
    identity = Identity(*server.control().enrol())
    took = []
    for number in range(TIMES):
        if number:
            server.start()
        with Device(server.ready["mcs"], server.ready["ca"]) as device:
            assert device.login(identity).message.get(3) is None
            took.append(server.stop())
            assert CLOSE in [packet.tag for packet in device.closed_by_server()], "it is told"
    assert max(took) < LIMIT, [f"{each:.2f} s" for each in took]


def idle(listener):
    """A plain TCP connection on which nothing is said."""
    return lambda server: server.idle(listener)


def provider(server):
    """A provider that was answered, and has nothing more to send."""
    control = server.control()
    token = control.token(control.enrol(), TOPIC, TEAM, "production")
    client = H2Client(server.ready["apns"], server.ready["ca"])
    assert client.request("POST", f"/3/device/{token}", server.provider().headers(), b"{}").status == 200
    return client


def kept(listener):
    """An HTTP/1.1 connection that was answered and is kept."""

    def connect(server):
        if listener == "metrics":
            connection = http.client.HTTPConnection("127.0.0.1", server.addresses["metricsPort"], timeout=10)
        else:
            connection = http.client.HTTPSConnection(
                "127.0.0.1", server.addresses["controlPort"], timeout=10, context=verified_context(server.ready["ca"]))
        connection.request("GET", "/health")
        assert connection.getresponse().read()
        return connection

    return connect


def half_a_request(server):
    """A request to the control API whose body does not come."""
    secured = open_tls(server.ready["control"], server.ready["ca"], protocols=())
    secured.sendall(b"POST /checkin HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    return secured


CONNECTIONS = {
    "a provider": provider, "a kept connection to the control API": kept("control"),
    "a kept connection to the metrics": kept("metrics"), "half a request to the control API": half_a_request,
    **{f"an idle connection to {each}": idle(each) for each in ("apns", "device", "control", "metrics")},
}


@pytest.mark.parametrize("name", CONNECTIONS)
def test_a_server_ends_at_once_beside(server, name):
    took = []
    for number in range(3):
        if number:
            server.start()
        with closing(CONNECTIONS[name](server)):
            took.append(server.stop())
    assert max(took) < LIMIT, [f"{each:.2f} s" for each in took]


@pytest.mark.timeout(300)
def test_up_ends_at_once(tmp_path):
    took = []
    for number in range(TIMES):
        up = AldabaUp.ephemeral(name="test_stop")
        began = time.monotonic()
        assert up.stop() == 0
        took.append(time.monotonic() - began)
        assert not up.data.exists()
        up.drop_logs()
    assert max(took) < LIMIT, [f"{each:.2f} s" for each in took]
