"""Device relay and files of notifications at three servers, PostgreSQL under Patroni and NATS on hosts of their own,
while programs are killed and stopped and cables are cut.

No message between devices is lost silently or delivered twice, what was confirmed as queued arrives until it is taken,
and each file that was taken is served by all servers. `ALDABA_CLUSTER_ROUNDS` and `ALDABA_CLUSTER_SEED` are as in
`test_cluster_faults.py`.
"""

import random
import time

import pytest

from aldaba_process import ARTEFACTS
from cluster_relay import RelayLedger
from cluster_uploads import Uploads
from network_cluster import Cluster, Network
from patroni_cluster import PatroniCluster
from test_cluster_faults import MISSING, ROUNDS, SEED, Faults
from test_nodes import metric
from waiting import wait_until

DEVICES = 6
FAULTS = [
    Faults.server_killed, Faults.server_paused, Faults.server_cut_from_nats, Faults.server_cut_from_primary,
    Faults.switchover, Faults.postgres_crashes, Faults.nats_killed]
# Those of the second round and of later ones.
MORE = [*FAULTS, Faults.primary_dies, Faults.disk_full, Faults.server_restarted]

pytestmark = pytest.mark.skipif(MISSING is not None, reason=f"{MISSING} is not here")


@pytest.fixture
def world(tmp_path):
    network, database = Network(), None
    try:
        database = PatroniCluster(network)
        yield Cluster(tmp_path, "test_cluster_relay", network, database.start())
    finally:
        network.end()
        if database:
            database.keep_logs(ARTEFACTS)
            database.end()


def know_each_other(world):
    """Whether each server knows all of them, and is connected to NATS."""
    try:
        return all(metric(server, "aldaba_carrier_connected") == 1 and metric(server, "aldaba_nodes") == 3
                   for server in world.servers)
    except OSError:
        return False


def run_faults(world, ledger, is_well):
    """Lets everything fail once a round, and tells how many seconds passed until all was well again."""
    choose = random.Random(SEED)
    faults = Faults(world, choose)
    for number in range(ROUNDS):
        plan = MORE if number else FAULTS
        for act in choose.sample(plan, len(plan)):
            begin = time.monotonic()
            title = act(faults)
            healed = time.monotonic()
            wait_until(lambda since=healed: is_well(since), f"all is well after: {title}", 90)
            ledger.look()
            print(f"{title}: begun at {begin:.1f}, well after {time.monotonic() - begin:.1f} s", flush=True)


@pytest.mark.timeout(200 + 200 * ROUNDS)
def test_what_devices_send_and_upload_outlives_every_fault(world):
    print(f"seed {SEED}")
    ledger, uploads = RelayLedger(world, DEVICES, SEED), Uploads(world)
    wait_until(lambda: know_each_other(world), "the servers know each other", 60)
    wait_until(lambda: all(client.ask("GET", "/v1/media").status_code == 200 for client in uploads.clients),
               "every server knows the key", 30)
    threads = [ledger.thread(member.work, ledger) for member in ledger.members]
    uploading = [ledger.thread(uploads.work, ledger, SEED * 10 + number) for number in range(2)]

    def is_well(since):
        ledger.faults += world.revive()
        return (
            world.database.is_whole() and know_each_other(world) and all(time > since for time in uploads.times)
            and all(member.has_since(kind, since) for member in ledger.members for kind in ("route", "letterKept")))

    try:
        wait_until(lambda: is_well(0), "everything is sent and taken", 60)
        run_faults(world, ledger, is_well)
        ledger.settle()
        for thread in uploading:
            thread.join(60)
        wait_until(lambda: not uploads.missing(), "each file that was taken is served by all servers", 60)
    finally:
        ledger.settling.set()
        ledger.stop.set()
        for thread in threads:
            thread.join(30)
        print(f"{ledger}\n{uploads}", flush=True)
    assert not (wrong := ledger.wrong() + uploads.wrong), "\n".join(wrong[:30])
    assert sum(len(member.of_kind("route")) for member in ledger.members) > 400 * ROUNDS
    assert sum(len(member.kept()) for member in ledger.members) > 150 * ROUNDS
    assert len(ledger.gone) > 80 * ROUNDS and len(uploads.taken) > 25 * ROUNDS
    for server in world.servers:
        server.stop()
