"""A connection between apps on two devices while the way of one to the server is cut."""

import json
import threading
import time

import pytest

from aldaba_process import AldabaUp
from faulty_proxy import Fault, FaultyProxy
from own_agent import OwnAgent
from test_relay import APP, Device, Relay
from waiting import wait_until


@pytest.fixture(scope="module")
def world():
    """A running `up`, its device, and an agent of the same person behind a proxy that can be shut."""
    up = AldabaUp.ephemeral("--devices", "2", "--no-app", name="test_relay_resumption")
    shut = threading.Event()
    port = json.loads((up.data / "serve.json").read_text())["devicePort"]
    proxy = FaultyProxy(port, lambda _: Fault(cut_after=0, resets=True) if shut.is_set() else Fault())
    agent = OwnAgent(up, "test_relay_resumption", device_port=proxy.port)
    agent.start()
    up_device = Device(up.ready["devices"][0])
    other = Device({"name": "behind", "data": agent.data, "socket": agent.socket})
    key = up_device.aldaba("account", "show").stdout.strip()
    other.aldaba("account", "join", key)
    for one, two in ((up_device, other), (other, up_device)):
        wait_until(
            lambda: any((each["id"], each["presence"]) == (two.id, "online") for each in one.others()), "they see each other")
    yield up_device, other, proxy, shut
    agent.stop()
    proxy.stop()
    assert up.stop() == 0


def cut_for(seconds, proxy, shut):
    """Cuts the way, and lets nothing through for so long."""
    shut.set()
    proxy.cut()
    time.sleep(seconds)
    shut.clear()


@pytest.mark.parametrize("asker", ["behind", "here"])
def test_a_conversation_goes_on_after_the_way_was_lost(world, tmp_path, asker):
    here, behind, proxy, shut = world
    calling, serving = (behind, here) if asker == "behind" else (here, behind)
    heard = []
    with Relay(APP, serving.install(tmp_path), serving.socket) as service, \
            Relay("com.example.caller", calling.install(tmp_path, "com.example.caller"), calling.socket) as caller:
        service.publish({"echo": "sameUser"})
        wait_until(lambda: any(APP in str(each["apps"]) for each in calling.others()), "the service is listed")
        connection = caller.open_connection(serving.id, APP, "echo")
        count = 200
        answering = threading.Thread(
            target=service.serve,
            args=(lambda question: heard.append(question.message["n"]) or {"n": question.message["n"]}, count))
        answering.start()
        answers = [caller.send(connection, {"n": 0})["n"]]
        cutting = threading.Thread(target=cut_for, args=(2, proxy, shut))
        cutting.start()
        begun = time.monotonic()
        answers += [caller.send(connection, {"n": number}, seconds=60)["n"] for number in range(1, count)]
        assert time.monotonic() - begun > 1, "the way was not lost in the middle of it"
        cutting.join(10)
        answering.join(10)
        assert answers == heard == list(range(count))
        caller.close(connection)


def test_a_connection_that_is_not_used_is_closed_on_both_sides(world, tmp_path):
    here, behind, _, _ = world
    here.aldaba("connections", "--idle", "1")
    try:
        with Relay(APP, behind.install(tmp_path), behind.socket) as service, \
                Relay("com.example.caller", here.install(tmp_path, "com.example.caller"), here.socket) as caller:
            service.publish({"echo": "sameUser"})
            wait_until(lambda: any(APP in str(each["apps"]) for each in here.others()), "the service is listed")
            connection = caller.open_connection(behind.id, APP, "echo")
            assert service.next_notice(10)["type"] == "opened"
            for relay in (caller, service):
                closed = relay.next_notice(10)
                assert (closed["type"], closed["connection"], closed["reason"]) == ("closed", connection, "idle")
        told = here.aldaba("connections", "--json").stdout
        assert json.loads(told) == {"idle": 1, "grace": 120}
    finally:
        here.aldaba("connections", "--idle", "300")


def test_a_person_denies_lists_and_takes_back(world, tmp_path):
    here, behind, _, _ = world
    with Relay(APP, behind.install(tmp_path), behind.socket) as service:
        service.publish({"echo": "sameUser"})
        wait_until(lambda: any(APP in str(each["apps"]) for each in here.others()), "the service is listed")

        def ask():
            return here.aldaba("call", f"{APP}/echo", "--on", behind.id, "--message", "{}", check=False)

        behind.aldaba("deny", here.id, APP, "echo")
        refused = ask()
        assert refused.returncode == 4 and "has refused this" in refused.stderr
        listed = [json.loads(line) for line in behind.aldaba("grants", "--json").stdout.splitlines()]
        assert [(each["device"], each["app"], each["service"], each["granted"]) for each in listed] == [
            (here.id, APP, "echo", False)]
        assert "denied" in behind.aldaba("grants").stdout
        behind.aldaba("revoke", here.id, APP, "echo")
        assert behind.aldaba("grants").stdout == ""
        behind.aldaba("grant", here.id, APP, "echo", "--for", "1s")
        wait_until(lambda: behind.aldaba("grants").stdout == "", "the grant has ended by itself")
        behind.aldaba("grant", here.id, APP, "echo", "--for", "2h")
        assert " until 20" in behind.aldaba("grants").stdout
        assert behind.aldaba("grant", here.id, APP, "echo", "--for", "soon", check=False).returncode == 2
        behind.aldaba("revoke", here.id, APP, "echo")
        answering = threading.Thread(target=service.serve, args=(lambda question: {"yes": 1}, 1))
        answering.start()
        assert ask().returncode == 0
        answering.join(10)


def test_a_running_command_is_listed_logged_and_taken_back(world, tmp_path):
    here, behind, _, _ = world
    with Relay(APP, behind.install(tmp_path), behind.socket) as service:
        service.publish({"echo": "sameUser"})
        wait_until(lambda: any(APP in str(each["apps"]) for each in here.others()), "the service is listed")
        ends = []
        asking = threading.Thread(target=lambda: ends.append(
            here.aldaba("call", f"{APP}/echo", "--on", behind.id, "--message", "{}", check=False).returncode))
        asking.start()
        question = service.next_notice(10)
        assert question["type"] == "asked"

        def listed():
            return [json.loads(line) for line in here.aldaba("life", "--json").stdout.splitlines()]

        running = wait_until(lambda: [each for each in listed() if each["life"] == "executing"], "it is executing")
        command = running[0]["id"]
        assert running[0]["what"] == f"call {APP}/echo"
        here.aldaba("cancel", command)
        asking.join(10)
        assert ends == [1]
        assert here.aldaba("life", command).stdout.startswith("cancelled")
        assert (withdrawn := service.next_notice(10))["type"] == "cancelled" and withdrawn["call"] == question["call"]
        for device in (here, behind):
            log = [json.loads(line) for line in device.aldaba("log").stdout.splitlines()]
            noted = [line for line in log if line.get("id") == command.lower()]
            assert [(line["what"], line["status"]) for line in noted] == [(f"call {APP}/echo", "cancelled")]
            assert ("asker" in noted[0]) == (device is here)
        assert here.aldaba("cancel", command, check=False).returncode == 3
