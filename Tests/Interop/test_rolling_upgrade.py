"""Three servers under load are stopped and started again with another program, one after the other, as for an update.

`ALDABA_OTHER_BIN` names the program of the other version; without it the same program is started again. The ledger has
what providers were told and what devices have shown.
"""

import json
import os
import random
import statistics
import threading
import time
import uuid
from pathlib import Path

import pytest

import aldaba_process
import own_server
from ledger import TROUBLE, Ledger
from mcs_client import CLOSE, DATA, PING, PONG, Closed, Notification
from nats_server import PROGRAM
from postgres_server import PROGRAMS
from test_nodes import Nodes
from waiting import wait_until

pytestmark = pytest.mark.skipif(
    PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")

OTHER = Path(os.environ.get("ALDABA_OTHER_BIN", own_server.BINARY))
SERVERS, DEVICES, PROVIDERS = 3, 6, 3


class Sender:
    """A provider that sends one push after the other, and repeats what was not answered, at the next server."""

    def __init__(self, nodes, number, tokens, ledger):
        self._nodes, self._number, self._tokens, self._ledger = nodes, number, tokens, ledger
        self._node, self._provider = number % SERVERS, None
        self.repeats = 0

    def run(self):
        choose, count = random.Random(self._number), 0
        while not self._ledger.stop.is_set():
            count += 1
            name = str(uuid.UUID(int=choose.getrandbits(128)))
            self._ledger.senders[name] = self._number, count
            self._send(name, choose.randrange(DEVICES))
            self._ledger.stop.wait(0.04)
        self._leave()

    def _send(self, name, device):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                self._provider = self._provider or self._nodes.provider(self._node)
                answer = self._provider.post(self._tokens[device], {"aps": {"alert": name}}, **{"apns-id": name})
            except TROUBLE:
                # GOAWAY, or a connection that has ended: a load balancer gives the next connection to another server.
                self.repeats += 1
                self._leave()
                self._node = (self._node + 1) % SERVERS
                continue
            if answer.status == 200:
                self._ledger.accept(name, device, self._node)
                return
            self._ledger.refused.append((time.monotonic(), answer.status, answer.reason))
            self._ledger.stop.wait(0.1)
        self._ledger.faults.append(f"{name} was not taken by any server within 30 s")

    def _leave(self):
        if self._provider:
            self._provider.close()
        self._provider = None


class Receiver:
    """A device: it acknowledges what it shows, and connects to the next server when it is told to come back."""

    def __init__(self, nodes, number, device, ledger, done):
        self._nodes, self._number, self._device = nodes, number, device
        self._ledger, self._done = ledger, done
        self._seen, self._recent, self._last = set(), [], 0
        self.node = number % SERVERS
        self.is_connected = False
        # The number of notifications that were shown since the last login.
        self.served = 0
        # The server that ended each connection, whether it said so, and the seconds until another had the device.
        self.moves = []

    def run(self):
        ended_at = None
        while not self._done():
            try:
                with self._nodes.connected(self.node, self._device, received=self._recent[-50:]) as channel:
                    if ended_at is not None:
                        self.moves[-1][2] = time.monotonic() - ended_at
                    self.served, self.is_connected = 0, True
                    was_told = self._read(channel)
                if self._done():
                    return
                ended_at = time.monotonic()
                self.is_connected = False
                self.moves.append([self.node, was_told, None])
            except TROUBLE:
                # The server does not listen.
                pass
            self.node = (self.node + 1) % SERVERS

    def _read(self, channel):
        """Shows what comes until the connection ends; returns whether the server has said that it would."""
        while not self._done():
            try:
                packet = channel.receive(timeout=0.3)
            except TimeoutError:
                continue
            except (Closed, OSError):
                return False
            if packet.tag == CLOSE:
                return True
            if packet.tag == DATA:
                self._show(Notification.of(packet))
            try:
                if packet.tag == PING:
                    channel.send(PONG)
                elif packet.tag == DATA:
                    channel.acknowledge_stream(channel.received_count)
            except OSError:
                # What the server said before is still to be read.
                continue
        return False

    def _show(self, one):
        self._recent.append(one.persistent_id)
        self.served += 1
        if one.persistent_id in self._seen:
            return
        self._seen.add(one.persistent_id)
        if int(one.persistent_id) < self._last:
            self._ledger.faults.append(f"{one.persistent_id} is shown after {self._last}")
        self._last = int(one.persistent_id)
        self._ledger.shown[self._number].append(json.loads(one.payload)["aps"]["alert"])


def versions(nodes):
    return {
        each["server"]: each["version"]
        for each in json.loads(nodes.servers[0].aldaba("cluster", "status", "--json").stdout)
        if each["state"] == "running"}


def replace(nodes, node, receivers):
    """Stops a server and starts it with the other program; returns the seconds that each took."""
    server = nodes.servers[node]
    there = [each for each in receivers if each.node == node and each.is_connected]
    moved = {each: len(each.moves) for each in there}
    ended = server.stop()
    wait_until(
        lambda: all(len(each.moves) > moved[each] and each.is_connected and each.served > 0 for each in there),
        "its devices are served at other servers")
    assert all(each.node != node for each in receivers)
    began = time.monotonic()
    server.start()
    started = time.monotonic() - began
    wait_until(nodes.know_each_other, "the nodes know each other")
    return ended, started, len(there)


@pytest.mark.timeout(240)
def test_three_servers_are_updated_one_after_the_other(tmp_path, monkeypatch):
    nodes = Nodes(tmp_path, "test_rolling_upgrade", SERVERS)
    ledger = Ledger(DEVICES)
    is_over = threading.Event()
    try:
        devices = [nodes.enrol(0) for _ in range(DEVICES)]
        tokens = [token for _, token in devices]
        for node in range(SERVERS):
            provider = nodes.provider(node)
            # A device that shows nothing else.
            token = nodes.enrol(0)[1]
            wait_until(lambda: provider.post(token, {"aps": {"alert": "x"}}).status == 200, "the key is known")
            provider.close()

        receivers = [
            Receiver(nodes, number, device, ledger, is_over.is_set) for number, (device, _) in enumerate(devices)]
        senders = [Sender(nodes, number, tokens, ledger) for number in range(PROVIDERS)]
        receiving = [ledger.thread(each.run) for each in receivers]
        sending = [ledger.thread(each.run) for each in senders]
        wait_until(lambda: all(each.served > 5 for each in receivers), "all devices show pushes")
        before = versions(nodes)

        # Every later command is the other program's, which knows the newer tables.
        monkeypatch.setattr(own_server, "BINARY", OTHER)
        monkeypatch.setattr(aldaba_process, "BINARY", OTHER)
        for node in range(SERVERS):
            ended, started, count = replace(nodes, node, receivers)
            print(f"server {node}: ended in {ended:.2f} s, ready after {started:.2f} s; {count} devices moved")
            accepted = len(ledger.accepted)
            wait_until(lambda count=accepted: len(ledger.accepted) > count + 30, "pushes are accepted")
        after = versions(nodes)

        ledger.stop.set()
        for thread in sending:
            thread.join(40)
        ledger.settling.set()
        wait_until(lambda: ledger.is_done() or ledger.faults, "everything that was accepted is shown", 30)
        is_over.set()
        for thread in receiving:
            thread.join(20)

        moves = [move for receiver in receivers for move in receiver.moves]
        away = sorted(seconds for _, _, seconds in moves if seconds is not None)
        print(
            f"versions {before} -> {after}; {len(ledger.accepted)} pushes accepted, {len(ledger.refused)} refused, "
            f"{sum(each.repeats for each in senders)} repeated at another server; {len(moves)} moves of devices, "
            f"away for {statistics.median(away):.3f} s (p50), {away[-1]:.3f} s (max)")
        ledger.check()
        assert not ledger.refused, ledger.refused[:5]
        assert all(was_told for _, was_told, _ in moves), "a device was not told that its server ends"
        assert {node for node, _, _ in moves} == set(range(SERVERS)) and len(away) == len(moves)
        assert len(after) == SERVERS and len(set(after.values())) == 1, after
        for server in nodes.servers:
            assert Path(f"/proc/{server.process.pid}/exe").resolve() == OTHER.resolve()
    finally:
        ledger.stop.set()
        is_over.set()
        for server in nodes.servers:
            server.kill()
        nodes.nats.remove()
        nodes.database.remove()
