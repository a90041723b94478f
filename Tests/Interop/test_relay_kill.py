"""Sudden ends (kill -9) of an agent or the server in the middle of a call or a stream: whoever waits hears of it, and can go on.

`aldaba up` starts again what was ended. Files that the agents send themselves are in test_relay_things.
"""

import os
import random
import signal
import subprocess
import threading
import uuid

import pytest

from test_relay import APP, Relay, RelayError, opened, pair  # noqa: F401
from test_relay_guide import install, start
from waiting import wait_until

VICTIMS = {"caller": "agent", "target": "agent-2", "server": "serve"}


def kill(up, victim):
    """Ends a program suddenly, of several servers all, and returns the numbers by their names in `pids.json`."""
    name = VICTIMS[victim]
    found = {
        child: number for child, number in up.pids().items()
        if child == name or (victim == "server" and child.startswith(f"{name}-"))}
    for number in found.values():
        os.kill(number, signal.SIGKILL)
    return found


def wait_for_both(up, old, first, second):
    for child, number in old.items():
        up.wait_for_new_pid(child, number)
    for device, other in ((first, second), (second, first)):
        wait_until(
            lambda: device.aldaba("call", "ping", "--on", other.name, "--within", "5", check=False).returncode == 0,
            f"{device.name} reaches {other.name}", 60)


@pytest.fixture
def devices(pair):  # noqa: F811
    _, first, second = pair
    return first, second


@pytest.mark.parametrize("victim", VICTIMS)
def test_whoever_waits_for_a_call_hears_that_nobody_knows_what_came_of_it(pair, tmp_path, victim):  # noqa: F811
    up, first, second = pair
    service = Relay(APP, second.install(tmp_path), second.socket)
    service.publish({"echo": "sameUser"})
    secret = first.install(tmp_path)
    caller = Relay(APP, secret, first.socket)
    command = uuid.uuid4()
    target = second.id
    caller.begin_call(target, APP, "echo", {"n": 1}, seconds=120, command=command)
    asked = service.next_notice(10)
    assert (asked["type"], asked["id"]) == ("asked", command)
    old = kill(up, victim)
    with pytest.raises(RelayError) as end:
        caller.result(command, 30)
    assert end.value.status == "outcomeUnknown"
    wait_for_both(up, old, first, second)
    if victim == "caller":
        caller = Relay(APP, secret, first.socket)
        assert caller.life(command) == (None, None)
    else:
        assert caller.life(command) == ("failed", "outcomeUnknown")
    if victim == "target":
        with pytest.raises(ConnectionError):
            service.next_notice(10)
        # It may have been done before the agent ended, which remembers nothing of that: it is not done again.
        with Relay(APP, second.install(tmp_path), second.socket) as anew:
            anew.publish({"echo": "sameUser"})
            with pytest.raises(RelayError) as again:
                caller.call(target, APP, "echo", {"n": 1}, command=command)
            assert again.value.status == "outcomeUnknown"
            with pytest.raises(TimeoutError):
                anew.next_notice(0.5)
            answering = threading.Thread(target=anew.serve, args=(lambda question: {"n": 3}, 1))
            answering.start()
            assert caller.call(target, APP, "echo", {"n": 1}) == {"n": 3}
            answering.join(10)
        caller.end()
        return
    # What is carried out is carried out once: its answer is there for whoever asks again under the same id.
    service._request({
        "type": "answer", "call": asked["call"], "outcome": {"status": "success", "message": {"n": 2}}})
    assert caller.call(target, APP, "echo", {"n": 1}, command=command) == {"n": 2}
    with pytest.raises(TimeoutError):
        service.next_notice(0.5)
    caller.end()
    service.end()


@pytest.mark.parametrize("victim", VICTIMS)
def test_the_swift_library_tells_so_too(pair, tmp_path, victim):  # noqa: F811
    up, first, second = pair
    install(first, tmp_path)
    install(second, tmp_path)
    serving, holding = start(second, "serve"), None
    try:
        assert serving.stdout.readline() == "published: success\n"
        holding = hold(first)
        old = kill(up, victim)
        holding.stdin.write("wait\n")
        holding.stdin.flush()
        ended = holding.stdout.readline()
        # The agent that gave the command remembers it, unless it is the one that ended.
        assert ended.startswith("hold: outcomeUnknown, "), ended
        assert victim == "caller" or ended == "hold: outcomeUnknown, outcomeUnknown\n"
        wait_for_both(up, old, first, second)
    finally:
        for process in (serving, holding):
            if process:
                process.kill()
                process.communicate()


def hold(device):
    """`RelayGuide hold`, when its command is being carried out."""
    holding = start(device, "hold", stdin=subprocess.PIPE)
    while not (line := holding.stdout.readline()).startswith("executing "):
        assert line
    holding.command = line.split()[1]
    return holding


def test_a_task_that_is_cancelled_takes_its_command_back_at_the_target(devices, tmp_path):
    first, second = devices
    install(first, tmp_path)
    install(second, tmp_path)
    serving = start(second, "serve")
    try:
        assert serving.stdout.readline() == "published: success\n"
        holding = hold(first)
        assert serving.stdout.readline() == "holds\n"
        told, _ = holding.communicate("cancel\n", timeout=20)
        assert told == "hold: canceled, canceled\n"
        assert serving.stdout.readline() == "not wanted any more\n"
        assert first.aldaba("life", holding.command).stdout.startswith("cancelled")
        wait_until(
            lambda: "cancelled" in second.aldaba("log").stdout.splitlines()[-1], "the target has taken it back", 10)
    finally:
        serving.kill()
        serving.communicate()


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_stream_goes_on_where_it_was(pair, tmp_path, victim):  # noqa: F811
    up, first, second = pair
    install(first, tmp_path)
    install(second, tmp_path)
    film, taken = tmp_path / "film.mp4", tmp_path / "taken.mp4"
    film.write_bytes(random.Random(7).randbytes(48_000_000))
    taking, giving = start(second, "take", taken), None

    def hears(line):
        assert taking.stdout.readline().strip() == line

    try:
        hears("published: success")
        giving = start(first, "give", film)
        hears("from 0")
        wait_until(lambda: taken.stat().st_size > 4 << 20, "a part is there", 60)
        old = kill(up, victim)
        told, _ = giving.communicate(timeout=60)
        assert told.splitlines()[-1] == "given: outcomeUnknown"
        hears("not taken: lost")
        had = taken.stat().st_size
        assert 0 < had < film.stat().st_size
        wait_for_both(up, old, first, second)
        giving = start(first, "give", film)
        told, _ = giving.communicate(timeout=120)
        assert told.splitlines()[-1] == "given: success"
        hears(f"from {had}")
        hears(f"taken: film.mp4 {film.stat().st_size}")
        assert taken.read_bytes() == film.read_bytes()
    finally:
        for process in (taking, giving):
            if process:
                process.kill()
                process.communicate()


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_connection_ends_with_an_agent_and_outlives_the_server(pair, tmp_path, victim):  # noqa: F811
    up, first, second = pair
    with Relay(APP, second.install(tmp_path), second.socket) as service, \
            Relay(APP, first.install(tmp_path), first.socket) as caller:
        service.publish({"echo": "sameUser"})
        wait_until(lambda: any(APP in str(each["apps"]) for each in first.others()), "the service is listed")
        connection = caller.open_connection(second.id, APP, "echo")
        opened = service.next_notice(10)
        assert (opened["type"], opened["connection"], opened["caller"]) == ("opened", connection, APP)
        old = kill(up, victim)
        ended, left = (caller, service) if victim == "caller" else (service, caller)
        wait_for_both(up, old, first, second)
        if victim == "server":
            answering = threading.Thread(target=service.serve, args=(lambda question: question.message, 1))
            answering.start()
            assert caller.send(connection, {"n": 1}) == {"n": 1}
            answering.join(10)
            return
        with pytest.raises(ConnectionError):
            ended.next_notice(10)
        closed = left.next_notice(20)
        assert (closed["type"], closed["connection"], closed["reason"]) == ("closed", connection, "unknown")
        with pytest.raises(RelayError) as end:
            left.send(connection, {"n": 1})
        assert end.value.status == "connectionClosed"


@pytest.mark.parametrize("victim", VICTIMS)
def test_whoever_waits_for_an_address_to_be_opened_hears_that_nobody_knows(pair, tmp_path, victim):  # noqa: F811
    up, first, second = pair
    with Relay(APP, second.install(tmp_path), second.socket) as opener, \
            Relay(APP, first.install(tmp_path), first.socket) as caller:
        opener.publish({}, schemes=["todo"])
        ends, command, target = [], uuid.uuid4(), second.id

        def launch():
            try:
                caller.launch(target, "todo:1", app=APP, seconds=60, command=command)
            except RelayError as end:
                ends.append(end.status)

        launching = threading.Thread(target=launch)
        launching.start()
        asked = opener.next_notice(10)
        assert (asked["type"], asked["uri"]) == ("launch", "todo:1")
        old = kill(up, victim)
        launching.join(30)
        assert ends == ["outcomeUnknown"]
        wait_for_both(up, old, first, second)
        if victim == "server":
            # It was opened meanwhile: whoever asks again under the same id hears of that.
            opener.settle_launch(asked)
            launch()
            assert ends == ["outcomeUnknown"]
        elif victim == "target":
            launch()
            assert ends == ["outcomeUnknown", "outcomeUnknown"]
