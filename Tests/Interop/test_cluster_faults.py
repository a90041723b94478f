"""Three servers, PostgreSQL's primary and standbys under Patroni, and NATS, each on a host of its own: programs are
killed and stopped, cables are cut, a clock jumps, a disk is full. A ledger has what was answered with 200 against what
each device has shown, and how long nothing was accepted.

`ALDABA_CLUSTER_ROUNDS` names how many rounds of faults are run, from the second on with longer ones as well;
`ALDABA_CLUSTER_SEED` repeats the order of a run.
"""

import functools
import os
import random
import secrets
import shutil
import signal
import time

import pytest

import h2_client
from aldaba_process import ARTEFACTS
from ledger import Ledger, longest_gap, receive, send
from nats_server import PROGRAM
from network_cluster import Cluster, Network
from patroni_cluster import ETCD, PATRONI, PatroniCluster
from postgres_server import PROGRAMS
from time_machine import FAKETIME
from waiting import wait_until

ROUNDS = int(os.environ.get("ALDABA_CLUSTER_ROUNDS", "1"))
SEED = int(os.environ.get("ALDABA_CLUSTER_SEED") or secrets.randbelow(10_000))
DEVICES = 4
# How long a client waits for a server before it tries another one.
TIMEOUT = 3
# A machine that runs other tests beside is slow.
LENIENCE = 3 if ROUNDS > 1 else 10
MISSING = next((name for name, found in {
    "root": os.getuid() == 0, "Debian's patroni": PATRONI, "etcd": ETCD, "PostgreSQL": PROGRAMS, "nats-server": PROGRAM,
    "libfaketime": os.path.exists(FAKETIME), "ip": shutil.which("ip"), "openssl": shutil.which("openssl"),
}.items() if not found), None)

pytestmark = pytest.mark.skipif(MISSING is not None, reason=f"{MISSING} is not here")


class Faults:
    """What goes wrong, one after the other. Each returns when its cause is gone, and says what it was."""

    def __init__(self, cluster, choose):
        self.cluster, self.choose = cluster, choose
        self.network, self.database, self.nats = cluster.network, cluster.database, cluster.nats

    def a_server(self):
        return self.choose.choice(self.cluster.servers)

    # Servers and NATS

    def server_killed(self):
        server = self.a_server()
        server.kill()
        # Longer than until the others take it for dead.
        time.sleep(8)
        server.start()
        return f"{server.host.name} killed for 8 s"

    def server_paused(self):
        server = self.a_server()
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(6)
        server.process.send_signal(signal.SIGCONT)
        return f"{server.host.name} paused for 6 s"

    def server_restarted(self):
        server = self.a_server()
        server.stop()
        server.start()
        return f"{server.host.name} restarted"

    def nats_killed(self):
        self.nats.kill()
        time.sleep(3)
        self.nats.start()
        return "NATS killed for 3 s"

    def clock_jumps(self):
        """Within the hour for which a provider token counts; then back, which is a jump as well."""
        server, minutes = self.a_server(), self.choose.choice([-50, 50])
        server.set_clock(minutes * 60)
        time.sleep(5)
        server.set_clock(0)
        return f"{server.host.name}'s clock {minutes:+d} min for 5 s"

    # PostgreSQL

    def postgres_crashes(self):
        leader = self.database.host_of("leader")
        leader.kill_postmaster()
        return f"{leader.name}'s postmaster killed"

    def switchover(self):
        self.database.switch_over()
        return "switchover"

    def primary_dies(self):
        leader = self._until_another(lambda host: (self.network.plug(host, False), self._host(host).host.kill()))
        self.network.plug(leader.host, True)
        leader.start()
        return f"{leader.name} without power"

    def primary_pauses(self):
        leader = self._until_another(lambda host: host.signal(signal.SIGSTOP))
        # The pause goes on for a moment, so that it wakes among others that do not know it as the primary.
        leader.host.signal(signal.SIGCONT)
        return f"{leader.name} paused"

    def primary_unplugged(self):
        leader = self._until_another(lambda host: self.network.plug(host, False))
        self.network.plug(leader.host, True)
        return f"{leader.name} unplugged"

    def primary_without_etcd(self):
        leader = self._until_another(lambda host: self.network.cut(*self._either(host, self.database.etcd)))
        self.network.heal()
        return f"{leader.name} and etcd, one way"

    def disk_full(self):
        leader = self.database.host_of("leader")
        leader.disk.fill()
        time.sleep(8)
        leader.disk.free()
        return f"{leader.name}'s disk full for 8 s"

    def _host(self, host):
        return next(each for each in self.database.hosts if each.host is host)

    def _until_another(self, harm):
        leader = self.database.host_of("leader")
        harm(leader.host)
        wait_until(lambda: self.database.host_of("leader") not in (None, leader), "there is another primary", 90)
        return leader

    # Cables

    def _either(self, one, other):
        return self.choose.choice([(one, other), (other, one)])

    def _cut(self, one, other, is_one_way, seconds):
        one, other = self._either(one, other)
        (self.network.cut if is_one_way else self.network.cut_both)(one, other)
        time.sleep(seconds)
        self.network.heal()
        return f"{one.name} {'to' if is_one_way else 'and'} {other.name} cut for {seconds} s"

    def server_cut_from_primary(self):
        return self._cut(self.a_server().host, self.database.host_of("leader").host, True, 6)

    def server_cut_from_nats(self):
        return self._cut(self.a_server().host, self.nats.host, False, 4)

    def primary_cut_from_standby(self):
        leader, standby = (self.database.host_of(role).host for role in ("leader", "sync_standby"))
        return self._cut(leader, standby, self.choose.random() < 0.5, 8)

    def any_cut(self):
        databases = [each.host for each in self.database.hosts]
        one, other = self.choose.choice([
            (self.a_server().host, self.choose.choice([*databases, self.nats.host])),
            (self.choose.choice(databases), self.database.etcd), tuple(self.choose.sample(databases, 2))])
        return self._cut(one, other, self.choose.random() < 0.5, self.choose.choice([2, 7, 20]))


# The faults of every round, and of the later ones; each with the seconds without a 200 that are aimed at, of all
# servers together and of what one device is sent. What a full disk or a cut takes away comes on top.
SHORT = {
    Faults.server_killed: 7, Faults.server_paused: 7, Faults.nats_killed: 4, Faults.clock_jumps: 4,
    Faults.postgres_crashes: 7, Faults.switchover: 4, Faults.primary_dies: 22, Faults.disk_full: 8 + 7,
    Faults.server_cut_from_primary: 7, Faults.server_cut_from_nats: 4, Faults.primary_cut_from_standby: 8 + 7}
LONG = SHORT | {
    Faults.server_restarted: 7, Faults.primary_pauses: 22, Faults.primary_unplugged: 22,
    Faults.primary_without_etcd: 22, Faults.any_cut: 22 + 20}


class Measured:
    """The table of how long nothing was accepted."""

    def __init__(self, ledger, commits):
        self._ledger, self._commits, self._rows = ledger, commits, []

    def add(self, title, aim, begin, end):
        """A row: the gaps of all servers together, of the worst device, of each server, and of the database alone."""
        gaps = [longest_gap(self._ledger.times(), begin, end)]
        gaps.append(max(longest_gap(self._ledger.times(device=device), begin, end) for device in range(DEVICES)))
        gaps += [longest_gap(self._ledger.times(node), begin, end) for node in range(3)]
        gaps.append(longest_gap(self._commits, begin, end))
        self._rows.append((title, aim, gaps, end - begin))

    def too_long(self):
        return [title for title, aim, gaps, _ in self._rows if max(gaps[:2]) > aim * LENIENCE]

    def __str__(self):
        refusals = {}
        for _, status, reason in self._ledger.refused:
            refusals[status, reason] = refusals.get((status, reason), 0) + 1
        head = ["all", "a device", "server0", "server1", "server2", "database", "until well"]
        lines = [f"{'seconds without a 200':45}{'aim':>5}" + "".join(f"{name:>11}" for name in head)]
        lines += [f"{title:45}{aim:5}" + "".join(f"{value:11.1f}" for value in [*gaps, took])
                  for title, aim, gaps, took in self._rows]
        return "\n".join([f"seed {SEED}", *lines, f"{len(self._ledger.accepted)} accepted, refused: {refusals}"])


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setattr(h2_client, "TIMEOUT", TIMEOUT)
    monkeypatch.setattr(h2_client, "open_tls", functools.partial(h2_client.open_tls, timeout=TIMEOUT))
    network, database = Network(), None
    try:
        database = PatroniCluster(network)
        yield Cluster(tmp_path, "test_cluster_faults", network, database.start(), TIMEOUT)
    finally:
        network.end()
        if database:
            database.keep_logs(ARTEFACTS)
            database.end()


@pytest.mark.timeout(300 * (ROUNDS + 1))
def test_nothing_is_lost_or_shown_twice_whatever_fails(world):
    choose, ledger = random.Random(SEED), Ledger(DEVICES)
    measured = Measured(ledger, world.database.commits)
    devices = [world.enrol(0) for _ in range(DEVICES)]
    tokens = [token for _, token in devices]
    deadline = [float("inf")]

    def accepts(since):
        return all(any(node == at and time > since for time, at, _ in ledger.answers[-500:]) for node in range(3))

    def is_well(since):
        ledger.faults += world.revive()
        return accepts(since) and world.database.is_whole()

    def is_done():
        return ledger.is_done() or time.monotonic() > deadline[0]

    threads = [ledger.thread(send, world, node, tokens, ledger, SEED * 10 + node, True) for node in range(3)]
    threads += [ledger.thread(send, world, node, tokens, ledger, SEED * 10 + 3 + node) for node in range(2)]
    threads += [
        ledger.thread(receive, world, number, device, ledger, is_done) for number, (device, _) in enumerate(devices)]
    threads.append(ledger.thread(world.database.commit, ledger.stop))
    try:
        wait_until(lambda: accepts(0), "all servers accept", 30)
        faults = Faults(world, choose)
        for number in range(ROUNDS):
            plan = list((LONG if number else SHORT).items())
            choose.shuffle(plan)
            for act, aim in plan:
                begin = time.monotonic()
                title = act(faults)
                healed = time.monotonic()
                try:
                    wait_until(lambda since=healed: is_well(since), f"all is well after: {title}", 90)
                finally:
                    measured.add(title, aim, begin, time.monotonic())
        ledger.settle(threads, deadline)
        assert not (late := measured.too_long()), f"nothing was accepted for too long: {late}"
        assert len(ledger.accepted) > 500 * ROUNDS
        for server in world.servers:
            server.stop()
    finally:
        ledger.settling.set()
        ledger.stop.set()
        deadline[0] = 0
        print(measured)
        (ARTEFACTS / "test_cluster_faults.gaps.txt").write_text(f"{measured}\n")
