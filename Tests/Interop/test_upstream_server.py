"""Messages from apps over the end of their server: by a signal, by a kill, and beside an open stream."""

import json
import threading

import pytest
import requests

from mcs_client import Device, Identity
from own_server import TEAM, TOPIC, OwnServer
from test_upstream import project_number
from waiting import wait_until

LIMIT = 3.0  # seconds; well under two are expected


@pytest.fixture
def server(tmp_path, request):
    made = OwnServer(tmp_path, request.node.name)
    made.add_app()
    made.key()
    made.start()
    yield made
    made.kill()


class Reader:
    """A provider that reads the stream in a thread, and keeps what came."""

    def __init__(self, server):
        self.messages, self.came, self.ended = [], threading.Event(), threading.Event()
        headers = {"Authorization": f"bearer {server.key().token()}"}
        self.response = requests.get(
            server.ready["control"] + "/v1/upstream", headers=headers, verify=server.ready["ca"], stream=True, timeout=60)
        assert self.response.status_code == 200, self.response.text
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            for line in self.response.iter_lines(chunk_size=1, decode_unicode=True):
                if line.startswith("data: "):
                    self.messages.append(json.loads(line.removeprefix("data: "))["id"])
                    self.came.set()
        except requests.RequestException:
            pass
        self.ended.set()


def say(server, identity, name):
    with Device(server.ready["mcs"], server.ready["ca"]) as device:
        assert device.login(identity).message.get(3) is None
        device.wait_confirmed(device.send_message(name, TOPIC, project_number(TEAM), {"text": name}))


def enrolled(server):
    control = server.control()
    device = control.enrol()
    control.register(device, TOPIC, TEAM)
    return Identity(*device)


def test_what_was_confirmed_outlives_a_kill(server):
    identity = enrolled(server)
    for number in range(5):
        say(server, identity, f"k-{number}")
        server.kill()
        server.start()
    reader = Reader(server)
    assert reader.came.wait(10)
    say(server, identity, "last")
    wait_until(lambda: "last" in reader.messages, "the last message came")
    assert reader.messages == [f"k-{number}" for number in range(5)] + ["last"]


def test_a_server_ends_at_once_beside_an_open_stream(server):
    reader = Reader(server)
    assert server.stop() < LIMIT
    assert reader.ended.wait(5)
