"""Three servers, PostgreSQL and NATS, which are killed, stopped and started under load: a ledger has what was
answered with 200 against what each device has shown. Nothing is lost, nothing is shown twice, and the order of each
device is kept.
"""

import signal
import time

import pytest

from ledger import Ledger, receive, send
from nats_server import PROGRAM
from postgres_server import PROGRAMS
from test_nodes import Nodes
from waiting import kill, wait_until

pytestmark = pytest.mark.skipif(
    PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")

DEVICES = 4


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
    ledger = Ledger(DEVICES)
    try:
        devices = [nodes.enrol(0) for _ in range(DEVICES)]
        tokens = [token for _, token in devices]
        sender = nodes.provider(2)
        wait_until(lambda: sender.post(tokens[0], {"aps": {"alert": "first"}}).status == 200, "the key is known")
        sender.close()
        ledger.accept("first", 0)
        deadline = [float("inf")]

        def is_done():
            return ledger.is_done() or time.monotonic() > deadline[0]

        threads = [ledger.thread(send, nodes, node, tokens, ledger, node) for node in range(3)]
        threads += [
            ledger.thread(receive, nodes, number, device, ledger, is_done)
            for number, (device, _) in enumerate(devices)]
        for _ in troubles(nodes):
            time.sleep(4)
            before = len(ledger.accepted)
            wait_until(lambda count=before: len(ledger.accepted) > count, "pushes are accepted again", 30)
        ledger.settle(threads, deadline)
        assert len(ledger.accepted) > 500
    finally:
        nodes.end()
