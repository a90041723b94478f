"""Several servers on one PostgreSQL database, with NATS between them: any of them takes any push and any device."""

import json
import os
import signal
import subprocess
import time
import urllib.request

import pytest

from aldaba_process import BINARY, clean_environment
from mcs_client import Device, Identity
from nats_server import PROGRAM, NATSServer
from own_server import TEAM, TOPIC, OwnServer
from postgres_server import PROGRAMS, PostgresServer
from waiting import kill, wait_until

pytestmark = pytest.mark.skipif(
    PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")


def metric(server, name, **labels):
    """A metric of a server; 0 where it does not tell it yet."""
    with urllib.request.urlopen(f"{server.ready['metrics']}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    return sum(
        float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
        if line.startswith((f"{name} ", f"{name}{{")) and all(label in line for label in wanted))


class Nodes:
    """Servers on a database, the first of which has the test's app and key."""

    def __init__(self, folder, name, count, *flags):
        self.database = PostgresServer("fsync=off").start()
        self.nats = NATSServer().start()
        self.servers = []
        for number in range(count):
            server = OwnServer(
                folder / str(number), f"{name}_{number}", "--postgres", self.database.url, "--nats", self.nats.url, *flags)
            self.servers.append(server.start())
        self.servers[0].add_app()
        self.key = self.servers[0].key()
        wait_until(self.know_each_other, "the nodes know each other")

    def know_each_other(self):
        return all(metric(server, "aldaba_nodes") == len(self.servers) for server in self.servers)

    def provider(self, node):
        return self.servers[node].provider(self.key)

    def enrol(self, node):
        control = self.servers[node].control(self.key)
        device = control.enrol()
        return device, control.token(device, TOPIC, TEAM, "production")

    def connected(self, node, device):
        server = self.servers[node]
        channel = Device(server.ready["mcs"], server.ready["ca"])
        channel.login(Identity(*device))
        return channel

    def end(self):
        for server in self.servers:
            server.stop()
        self.nats.remove()
        self.database.remove()


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    made = Nodes(tmp_path_factory.mktemp("nodes"), "test_nodes", 2)
    yield made
    made.end()


def test_a_push_at_one_server_reaches_a_device_at_the_other(nodes):
    device, token = nodes.enrol(1)
    provider = nodes.provider(0)
    with nodes.connected(1, device) as channel:
        for number in range(5):
            # Of the first, the other server may not know yet that the key was made.
            wait_until(lambda: provider.post(token, {"aps": {"alert": str(number)}}).status == 200, "the push is accepted")
            got = channel.notification()
            channel.acknowledge_selectively([got.persistent_id])
    provider.close()
