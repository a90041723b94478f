"""What the server tells a device that comes back: only what changed meanwhile."""

import contextlib
import json
import re
import sys
import time

import pytest

from aldaba_process import REPOSITORY, AldabaUp, clean_environment
from faulty_proxy import Fault, FaultyProxy
from own_agent import OwnAgent
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonRelay"))
from aldaba_relay import Relay  # noqa: E402

APP = "com.example.large"
# About 64 KB that a device tells of itself.
SCHEMES = [f"x{number}-" + "y" * 1000 for number in range(63)]


class Device(OwnAgent):
    def __init__(self, up, name, **options):
        super().__init__(up, f"test_relay_watching_{name}", clean_environment(), **options)
        self.secret = self.install(
            id=APP, name="Large", team="ALDABADEMO", executable=sys.executable, provesBySecret=True)
        (self.data / "relay.json").write_text(
            json.dumps({
                "name": name, "kind": "desktop", "schemes": [], "grants": [],
                "account": f"aldaba-account-{'1e' * 32}"}))

    def schemes(self):
        """The schemes that the other device tells; `None` while it is not known."""
        done = self.aldaba("relay", "devices", "--json", check=False)
        devices = json.loads(done.stdout) if done.returncode == 0 else []
        apps = devices[0]["apps"] if devices and devices[0]["presence"] == "online" else []
        return next((app.get("schemes", []) for app in apps if app["id"] == APP), None)

    def app(self):
        return Relay(APP, self.secret, self.socket)


@pytest.fixture
def pair():
    up = AldabaUp.ephemeral("--no-app", name="test_relay_watching")
    proxy = FaultyProxy(json.loads((up.data / "serve.json").read_text())["devicePort"], lambda number: Fault())
    with contextlib.ExitStack() as stack:
        stack.callback(proxy.stop)
        made = Device(up, "desk", device_port=proxy.port), Device(up, "lamp")
        for device in made:
            stack.callback(device.stop)
            device.start()
        yield *made, proxy
    assert up.stop() == 0


def carried(proxy):
    """How many bytes the newest connection has carried, once it carries nothing more."""
    last = None
    while True:
        now = int(re.search(r"carried (\d+) bytes", proxy.told()).group(1))
        if now == last:
            return now
        last = now
        time.sleep(0.3)


def come_back(desk, proxy, schemes):
    connections = proxy.connections
    proxy.cut()
    wait_until(lambda: proxy.connections > connections, "the device connects again")
    wait_until(lambda: desk.schemes() == schemes, "it knows the other device")
    return carried(proxy)


def test_a_device_that_comes_back_is_told_only_what_changed(pair):
    desk, lamp, proxy = pair
    with lamp.app() as app:
        app.publish({"light": "sameUser"}, schemes=SCHEMES)
        wait_until(lambda: desk.schemes() == SCHEMES, "the device knows the other one")
        assert carried(proxy) > 60_000
        assert come_back(desk, proxy, SCHEMES) < 20_000
        app.publish({"light": "sameUser"}, schemes=SCHEMES[:2])
        wait_until(lambda: desk.schemes() == SCHEMES[:2], "the device hears of a change")
        assert come_back(desk, proxy, SCHEMES[:2]) < 20_000
