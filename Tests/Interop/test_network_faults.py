"""The device channel over a bad network: what was accepted reaches the app once, in its order."""

import json
import subprocess
import uuid
from collections import Counter

import pytest

from aldaba_process import BINARY, clean_environment, run_aldaba
from faulty_proxy import Fault, FaultyProxy, seeded
from own_agent import OwnAgent
from persistent_sender import PersistentSender
from provider import Provider
from waiting import TimedOut, wait_for_lines

TEAM = "ALDABADEMO"
PROGRAM = BINARY.parent / "TodoList"


class FarDevice:
    """The demo app on an agent whose device channel goes through a faulty proxy."""

    def __init__(self, up, name, choose):
        self.up = up
        self.id = f"com.example.far-{uuid.uuid4().hex[:8]}"
        run_aldaba("app", "create", self.id, "--team", TEAM, "--data", up.data)
        self.proxy = FaultyProxy(json.loads((up.data / "serve.json").read_text())["devicePort"], choose)
        self.agent = OwnAgent(up, name, device_port=self.proxy.port)
        self.handed = self.agent.data.parent / "handed"
        self.agent.install(
            id=self.id, name="Far", team=TEAM, executable=str(PROGRAM), authorization="granted", lifecycle="always")
        self.agent.start()
        self.said = self.agent.data.parent / "said"
        with open(self.said, "wb") as said:
            self.program = subprocess.Popen(
                [PROGRAM], env=clean_environment(
                    ALDABA_APP_ID=self.id, ALDABA_AGENT_SOCKET=self.agent.socket, TODOLIST_APP_LOG=str(self.handed)),
                stdin=subprocess.DEVNULL, stdout=said)
        said = wait_for_lines(
            self.said, lambda lines: any(line.startswith("token: ") for line in lines), "the app has its token")
        self.token = next(line.split()[1] for line in said if line.startswith("token: "))

    def stop(self):
        self.program.terminate()
        self.program.wait(20)
        self.agent.stop()
        self.proxy.stop()


@pytest.fixture
def far(up, request):
    made = []

    def make(choose):
        made.append(FarDevice(up, request.node.name.split("[")[0], choose))
        return made[-1]

    yield make
    for device in made:
        device.stop()


def assert_handed(device, ids, seconds=60):
    try:
        wait_for_lines(device.handed, lambda lines: len(set(lines)) >= len(ids), "the app was handed all", seconds)
    except TimedOut as late:
        missing = sorted(set(ids) - set(device.handed.read_text().split()))[:3]
        told = [run_aldaba("get", each, "--json", "--data", device.up.data, check=False).stdout for each in missing]
        raise TimedOut(f"{late}; {device.proxy.told()}; " + "\n".join(told)) from None
    handed = device.handed.read_text().split()
    assert {each: count for each, count in Counter(handed).items() if count > 1} == {}, "none twice"
    return handed


@pytest.mark.parametrize("piece, delay", [(1, 0), (1460, 0.002)])
def test_a_channel_in_small_or_late_pieces_carries_all_in_order(up, far, piece, delay):
    device = far(lambda _: Fault(piece=piece, delay=delay))
    provider = Provider(up.ready, topic=device.id)
    ids = [provider.post(device.token, {"aps": {"alert": f"number {number}"}}).apns_id for number in range(100)]
    provider.close()
    assert assert_handed(device, ids) == ids, "in the order of their acceptance"
    assert device.proxy.connections == 1, "one connection held"


def test_a_channel_that_stalls_goes_on_where_it_was(up, far):
    device = far(lambda _: Fault(stall_after=9000, stall=3))
    provider = Provider(up.ready, topic=device.id)
    ids = [provider.post(device.token, {"aps": {"alert": f"number {number}"}}).apns_id for number in range(100)]
    provider.close()
    assert assert_handed(device, ids) == ids


@pytest.mark.timeout(180)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_channel_that_is_cut_again_and_again_loses_nothing_and_repeats_nothing(up, far, seed):
    device = far(seeded(seed))
    provider = Provider(up.ready, topic=device.id)
    # Fewer than may wait at once: a busy machine forwards more slowly than they are sent.
    ids = [str(uuid.uuid4()) for _ in range(900)]
    sender = PersistentSender(provider, up.ready | {"topic": device.id, "deviceToken": device.token}, ids, 150)
    sender.start()
    sender.wait_for(lambda: len(sender.accepted) == len(ids), "all are accepted")
    sender.join(10)
    handed = assert_handed(device, ids)
    provider.close()
    assert set(handed) == set(ids)
    assert device.proxy.connections > 5, "it was cut"
