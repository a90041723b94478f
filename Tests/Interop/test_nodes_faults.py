"""Three servers, PostgreSQL and NATS, which are killed, stopped and started under load: a ledger of what was answered with 200 against
what each device has shown. Nothing is lost, nothing is shown twice, and the order of each device is kept.
"""

import json
import random
import signal
import threading
import time
import uuid

import pytest
from h2.exceptions import ProtocolError

from mcs_client import Closed
from nats_server import PROGRAM
from postgres_server import PROGRAMS
from test_nodes import Nodes
from waiting import kill, wait_until

pytestmark = pytest.mark.skipif(
    PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")

DEVICES = 4
TROUBLE = (OSError, ConnectionError, ProtocolError, Closed, TimeoutError)


class Ledger:
    """What providers were told, and what devices have shown."""

    def __init__(self):
        self.accepted = {}
        self.shown = [[] for _ in range(DEVICES)]
        self.refused = []
        self.faults = []
        self.stop = threading.Event()
        self.settling = threading.Event()


def send(nodes, node, tokens, ledger, seed):
    """A provider at a server: it repeats a request that was not answered with 200, under the same apns-id, at any server."""
    choose = random.Random(seed)
    sender = None
    while not ledger.stop.is_set():
        name, device = str(uuid.UUID(int=choose.getrandbits(128))), choose.randrange(DEVICES)
        for _ in range(200):
            try:
                sender = sender or nodes.provider(node)
                answer = sender.post(tokens[device], {"aps": {"alert": name}}, **{"apns-id": name})
                if answer.status == 200:
                    ledger.accepted[name] = device
                    break
                ledger.refused.append((time.monotonic(), answer.status))
            except TROUBLE:
                if sender:
                    sender.close()
                sender, node = None, choose.randrange(3)
            if ledger.settling.is_set():
                break
            time.sleep(0.1)
        ledger.stop.wait(0.03)
    if sender:
        sender.close()


def receive(nodes, number, device, ledger, done):
    """A device: it moves between servers, and shows what it has not shown before, by its id."""
    choose = random.Random(number)
    seen, unconfirmed, last = set(), [], 0
    while not done():
        try:
            with nodes.connected(choose.randrange(3), device, received=unconfirmed[-200:]) as channel:
                unconfirmed = []
                until = time.monotonic() + (60 if ledger.settling.is_set() else choose.uniform(0.2, 4))
                while time.monotonic() < until and not done():
                    try:
                        one = channel.notification(timeout=0.3)
                    except TimeoutError:
                        continue
                    if one.persistent_id not in seen:
                        if int(one.persistent_id) < last:
                            ledger.faults.append(f"{one.persistent_id} is shown after {last}")
                        last = int(one.persistent_id)
                        seen.add(one.persistent_id)
                        ledger.shown[number].append(json.loads(one.payload)["aps"]["alert"])
                    unconfirmed.append(one.persistent_id)
                    if choose.random() < 0.9:
                        channel.acknowledge_selectively(unconfirmed)
                        # Without an answer it is named again at the next login, as devices do.
                        unconfirmed = unconfirmed[-50:]
        except TROUBLE:
            time.sleep(0.1)


def troubles(nodes):
    """One fault after the other, each healed before the next."""
    first, second, third = nodes.servers
    kill(second.process.pid)
    second.process.wait(10)
    time.sleep(2)
    second.start()
    yield "a server was killed"
    third.process.send_signal(signal.SIGSTOP)
    time.sleep(8)
    third.process.send_signal(signal.SIGCONT)
    yield "a server stood still"
    nodes.nats.kill()
    time.sleep(3)
    nodes.nats.start()
    yield "NATS was killed"
    nodes.nats.process.send_signal(signal.SIGSTOP)
    time.sleep(4)
    nodes.nats.process.send_signal(signal.SIGCONT)
    yield "NATS stood still"
    nodes.database.end(signal.SIGQUIT)
    time.sleep(1)
    nodes.database.start()
    yield "PostgreSQL crashed"
    first.stop()
    first.start()
    yield "a server was restarted"


@pytest.mark.timeout(240)
def test_nothing_is_lost_or_shown_twice_whatever_fails(tmp_path):
    nodes = Nodes(tmp_path, "test_nodes_faults", 3)
    ledger = Ledger()
    try:
        devices = [nodes.enrol(0) for _ in range(DEVICES)]
        tokens = [token for _, token in devices]
        sender = nodes.provider(2)
        wait_until(lambda: sender.post(tokens[0], {"aps": {"alert": "first"}}).status == 200, "the key is known")
        sender.close()
        ledger.accepted["first"] = 0

        def is_done():
            return ledger.settling.is_set() and all(
                name in set(ledger.shown[device]) for name, device in ledger.accepted.items())

        deadline = [float("inf")]
        threads = [
            threading.Thread(target=send, args=(nodes, node, tokens, ledger, node), daemon=True) for node in range(3)
        ] + [
            threading.Thread(
                target=receive, args=(nodes, number, device, ledger, lambda: is_done() or time.monotonic() > deadline[0]),
                daemon=True)
            for number, (device, _) in enumerate(devices)]
        for thread in threads:
            thread.start()
        for _ in troubles(nodes):
            time.sleep(4)
            before = len(ledger.accepted)
            wait_until(lambda count=before: len(ledger.accepted) > count, "pushes are accepted again", 30)
        ledger.settling.set()
        ledger.stop.set()
        deadline[0] = time.monotonic() + 60
        for thread in threads:
            thread.join(90)
        assert not ledger.faults, ledger.faults[:5]
        assert len(ledger.accepted) > 500
        for device, shown in enumerate(ledger.shown):
            assert len(shown) == len(set(shown)), "something was shown twice"
            lost = {name for name, owner in ledger.accepted.items() if owner == device} - set(shown)
            assert not lost, f"{len(lost)} of {len(ledger.accepted)} are lost"
        assert {status for _, status in ledger.refused} <= {503, 403}, ledger.refused[:5]
    finally:
        nodes.end()
