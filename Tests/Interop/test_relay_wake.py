"""A phone that is suspended is woken by a push of its platform's service, and then takes what waits for it.

Another `aldaba serve` is Apple's service. There is no client for phones: an agent of Linux that is stopped and started stands for
the suspended app, and a device of Apple's service, spoken for by this file, for the system that gets the push and starts the app.
"""

import contextlib
import json
import os
import re
import threading
import time
import urllib.request

import pytest

from aldaba_process import AldabaUp, clean_environment, run_aldaba
from mcs_client import Device as SystemOfPhone
from mcs_client import Identity
from own_agent import OwnAgent
from own_server import OwnServer
from waiting import wait_until

HUB = "todo"


@pytest.fixture(scope="module")
def up():
    running = AldabaUp.ephemeral("--no-app", "--relay-wake-hub", HUB, name="test_relay_wake")
    yield running
    assert running.stop() == 0


@pytest.fixture(scope="module")
def apple(up, tmp_path_factory):
    made = OwnServer(tmp_path_factory.mktemp("apple"), "test_relay_wake_apple")
    made.add_app(up.ready["topic"], up.ready["teamId"])
    made.key(up.ready["teamId"])
    with made as running:
        [key] = (running.data / "keys").glob("AuthKey_*.p8")
        run_aldaba(
            "hub", "credential", "add", HUB, "apns", "--key", str(key), "--address", running.ready["apns"], "--authority",
            running.ready["ca"], "--data", up.data)
        yield running


class Device(OwnAgent):
    def __init__(self, up, name, account):
        super().__init__(up, f"test_relay_wake_{name}", clean_environment())
        self.name = name
        self.data.mkdir(parents=True, mode=0o700)
        (self.data / "relay.json").write_text(
            json.dumps({"name": name, "kind": "phone", "schemes": [], "grants": [], "account": account}))

    def relay(self, *arguments, **options):
        return self.aldaba("relay", *arguments, **options)

    def seen(self):
        told = json.loads(self.relay("devices", "--json").stdout)
        return (told[0]["presence"], told[0].get("reach")) if told else None


@pytest.fixture
def desk_and_phone(up):
    account = f"aldaba-account-{os.urandom(32).hex()}"
    made = [Device(up, name, account) for name in ("desk", "phone")]
    with contextlib.ExitStack() as stack:
        for device in made:
            stack.callback(device.stop)
            device.start()
        wait_until(lambda: made[0].seen() == ("online", "relay"), "the desk sees the phone")
        yield made


class Push:
    """The phone's channel at Apple's service."""

    def __init__(self, up, apple):
        self._app = (up.ready["topic"], up.ready["teamId"], "production")
        self._control = apple.control(apple.key(up.ready["teamId"]))
        self._device = self._control.enrol()
        self.token = self._control.token(self._device, *self._app)
        self._connection = SystemOfPhone(apple.ready["mcs"], apple.ready["ca"], timeout=30)
        self._connection.login(Identity(*self._device))

    def next(self):
        return json.loads(self._connection.notification(30).payload)

    def end_token(self):
        self._control.register(self._device, *self._app, delete=True)

    def close(self):
        self._connection.__exit__()


@pytest.fixture
def push(up, apple):
    made = Push(up, apple)
    yield made
    made.close()


def wakes(up):
    text = urllib.request.urlopen(up.ready["metrics"] + "/metrics").read().decode()
    return {word: int(float(count)) for word, count in re.findall(
        r'^aldaba_relay_wakes_total\{[^}]*outcome="(\w+)"[^}]*\} ([\d.e+]+)', text, re.M)}


def asleep(desk, phone):
    phone.stop_process()
    wait_until(lambda: desk.seen() == ("wakeable", "wake"), "the phone is known to be wakeable")


def test_a_call_wakes_the_phone_and_is_answered(up, push, desk_and_phone):
    desk, phone = desk_and_phone
    phone.relay("wake-by", "apns", push.token, "--environment", "production")
    asleep(desk, phone)
    answers = []
    begun = time.time()
    asking = threading.Thread(
        target=lambda: answers.append(desk.relay("call", "ping", "--on", "phone", "--within", "60", seconds=90)))
    asking.start()
    pushed = push.next()
    assert pushed["aps"] == {"content-available": 1}
    assert pushed["aldaba"]["relay"] == "wake" and set(pushed) == {"aps", "aldaba"}
    assert begun + 50 < int(pushed["aldaba"]["until"]) / 1000 < begun + 70
    assert not answers
    phone.start()
    asking.join(60)
    assert "pong" in answers[0].stdout
    assert wakes(up)["sent"] >= 1
    assert desk.seen() == ("online", "relay")


def test_a_phone_that_does_not_come_is_another_end_than_one_that_cannot_be_woken(up, push, desk_and_phone):
    desk, phone = desk_and_phone
    phone.relay("wake-by", "apns", push.token)
    asleep(desk, phone)
    done = desk.relay("call", "ping", "--on", "phone", "--within", "2", check=False)
    push.next()
    assert done.returncode == 7 and "did not come before the deadline" in done.stderr, done.stderr
    # The token dies at Apple's service: the command ends at once, and the phone is offline from then on.
    push.end_token()
    time_begun = time.monotonic()
    done = desk.relay("call", "ping", "--on", "phone", "--within", "60", check=False)
    assert done.returncode == 6 and "could not wake it" in done.stderr, done.stderr
    assert time.monotonic() - time_begun < 30
    assert desk.seen() == ("offline", None)
    assert wakes(up)["dead"] == 1
    done = desk.relay("call", "ping", "--on", "phone", check=False)
    assert done.returncode == 6 and "is not connected" in done.stderr, done.stderr
    # With a session it says its channel anew.
    phone.start()
    wait_until(lambda: desk.seen() == ("online", "relay"), "the phone is back")


def test_a_phone_without_a_channel_is_offline(desk_and_phone, push):
    desk, phone = desk_and_phone
    phone.relay("wake-by", "apns", push.token)
    phone.relay("wake-by")
    phone.stop_process()
    wait_until(lambda: desk.seen() == ("offline", None), "the phone is offline")


def test_a_message_without_an_answer_wakes_the_phone_and_waits_for_it(push, desk_and_phone):
    desk, phone = desk_and_phone
    phone.relay("wake-by", "apns", push.token, "--environment", "production")
    asleep(desk, phone)
    begun = time.time()
    told = json.loads(desk.relay("tell", "ping", "Type=ping", "--on", "phone", "--ttl", "2h", "--json").stdout)
    pushed = push.next()
    assert pushed["aldaba"]["relay"] == "wake"
    assert begun + 7100 < int(pushed["aldaba"]["until"]) / 1000 < begun + 7300
    assert desk.relay("life", told["id"]).stdout.startswith("sent")
    phone.start()
    wait_until(lambda: desk.relay("life", told["id"]).stdout.startswith("completed"), "the phone has taken it")
