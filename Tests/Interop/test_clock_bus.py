"""What the system bus says of the clock, as the agent hears it: python-dbusmock stands in for login1 and timedate1."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from aldaba_process import ARTEFACTS, BINARY, clean_environment, run_aldaba
from system_bus import SystemBus
from waiting import wait_for_lines

LOGIN, TIME = "org.freedesktop.login1", "org.freedesktop.timedate1"


@pytest.fixture
def bus():
    made = SystemBus()
    yield made
    made.stop()


@pytest.fixture
def agent(tmp_path, bus):
    """The log of an agent on that bus, once it listens there."""
    log = ARTEFACTS / "test_clock_bus.agent.log"
    with open(log, "wb") as file:
        process = subprocess.Popen(
            [str(BINARY), "agent", "--data", str(tmp_path / "data"), "--log-level", "debug"],
            env=clean_environment() | bus.environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            start_new_session=True)
    try:
        bus.wait_for_rule("timedate1")
        yield log
    finally:
        os.kill(process.pid, signal.SIGTERM)
    assert process.wait(20) == 0


def lines(log, words):
    return [line for line in Path(log).read_text().splitlines() if words in line]


def test_a_machine_that_wakes_and_a_zone_that_is_set_make_the_agent_look_again(bus, agent):
    bus.mock(LOGIN, "/org/freedesktop/login1", f"{LOGIN}.Manager")
    bus.mock(TIME, "/org/freedesktop/timedate1", TIME)
    bus.emit(LOGIN, "/org/freedesktop/login1", f"{LOGIN}.Manager", "PrepareForSleep", "b", [True])
    bus.emit(LOGIN, "/org/freedesktop/login1", f"{LOGIN}.Manager", "PrepareForSleep", "b", [False])
    bus.run("service = bus.get_object('org.freedesktop.timedate1', '/org/freedesktop/timedate1', introspect=False); "
            "service.AddProperty('org.freedesktop.timedate1', 'Timezone', 'Europe/Berlin', dbus_interface=mock); "
            "service.UpdateProperties('org.freedesktop.timedate1', {'Timezone': 'Asia/Tokyo'}, dbus_interface=mock)")
    wait_for_lines(agent, lambda found: any("another time zone" in line for line in found), "the zone is looked at")
    assert len(lines(agent, "or the machine has slept")) == 1
    assert len(lines(agent, "another time zone")) == 1


def test_what_others_say_on_the_bus_is_not_heard(bus, agent):
    bus.mock("com.example.impostor", "/org/freedesktop/login1", f"{LOGIN}.Manager")
    bus.emit("com.example.impostor", "/org/freedesktop/login1", f"{LOGIN}.Manager", "PrepareForSleep", "b", [False])
    bus.mock(LOGIN, "/org/freedesktop/login1", f"{LOGIN}.Manager")
    bus.emit(LOGIN, "/org/freedesktop/login1", f"{LOGIN}.Manager", "PrepareForSleep", "b", [False])
    wait_for_lines(agent, lambda found: any("machine has slept" in line for line in found), "the clock is looked at")
    assert len(lines(agent, "or the machine has slept")) == 1


def test_an_agent_outlives_its_system_bus_and_finds_the_next(bus, agent):
    bus.end()
    bus.begin()
    wait_for_lines(agent, lambda found: any("another time zone" in line for line in found), "it looks when it is back")
    bus.wait_for_rule("timedate1")
    bus.mock(LOGIN, "/org/freedesktop/login1", f"{LOGIN}.Manager")
    bus.emit(LOGIN, "/org/freedesktop/login1", f"{LOGIN}.Manager", "PrepareForSleep", "b", [False])
    wait_for_lines(agent, lambda found: sum("machine has slept" in line for line in found) == 2, "the new one is heard")
