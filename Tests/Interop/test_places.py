"""Notifications that wait for a place: the real agent with each of its sources, under a clock that runs twenty times as fast."""

import os
import re
import signal
from pathlib import Path

import pytest

import geoclue
from aldaba_process import ARTEFACTS, run_aldaba
from alone_agent import Alone
from system_bus import SystemBus
from waiting import wait_for_lines, wait_until

HOME, AWAY = (52.5163, 13.3777), (52.6321, 13.4444)
DIGITS = re.compile(r"52\.[56]|13\.[34]")


@pytest.fixture
def bus():
    made = SystemBus()
    yield made
    made.stop()


@pytest.fixture
def start(request, tmp_path):
    """`start(source, **environment)` runs an agent whose twenty seconds in a place are one."""
    started = []

    def begin(source, **environment):
        started.append(Alone(
            tmp_path, "--position", source, "--log-level", "trace", name=request.node.name, speed=20,
            environment={"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"} | environment))
        return started[-1]

    yield begin
    for alone in started:
        alone.stop()
        assert not DIGITS.search(alone.log.read_text()), "where somebody is stands in the log"


def wait_at_home(app, identifier="home", **crossing):
    region = {"identifier": "home", "latitude": HOME[0], "longitude": HOME[1], "radius": 100,
              "onEntry": True, "onExit": False, **crossing}
    app.center("add", notification={
        "identifier": identifier, "content": {"title": "You are here"},
        "trigger": {"type": "region", "region": region, "repeats": False}})


def reason(alone):
    return alone.aldaba("notifications", "pending").stdout


def come_home(alone, move):
    """Waits at home, first away; the notification comes on the way in."""
    with alone.app() as app:
        wait_at_home(app)
        move(*AWAY)
        wait_until(lambda: "now outside" in reason(alone), "the agent knows that it is away")
        assert app.delivered() == []
        move(*HOME)
        wait_until(lambda: len(app.delivered()) == 1, "the notification has come")
        assert reason(alone) == ""


def test_a_file_says_where_the_machine_is(start, tmp_path):
    place = tmp_path / "place"
    alone = start(f"file:{place}")

    def move(latitude, longitude):
        wait_until(lambda: place.exists() or "is not there" in reason(alone), "the agent has looked for the file")
        place.write_text(f"{latitude} {longitude} 10\n")

    come_home(alone, move)


def test_a_place_that_is_waited_for_later_knows_where_the_machine_is(start, tmp_path):
    place = tmp_path / "place"
    place.write_text("%s %s\n" % HOME)
    alone = start(f"file:{place}")
    with alone.app() as app:
        wait_at_home(app)
        wait_until(lambda: reason(alone).count("now inside") == 1, "the first is inside")
        wait_at_home(app, "again")
        wait_until(lambda: reason(alone).count("now inside") == 2, "so is the second, though nothing was written")


def test_a_file_that_another_replaces_says_it_as_json(start, tmp_path):
    place = tmp_path / "place"

    def move(latitude, longitude):
        draft = place.with_suffix(".new")
        draft.write_text(f'{{\n  "latitude": {latitude},\n  "longitude": {longitude},\n  "accuracy": 10\n}}\n')
        draft.rename(place)

    come_home(start(f"file:{place}"), move)


def test_a_program_says_it_and_ends_when_nothing_waits(start, tmp_path):
    place = tmp_path / "lines"
    place.touch()
    process = tmp_path / "pid"
    alone = start(f"command:echo $$ > {process}; exec tail -n +1 -f {place}")

    def move(latitude, longitude):
        with place.open("a") as lines:
            lines.write(f"{latitude} {longitude} 5\n")

    assert not process.exists(), "nothing waits for a place yet"
    come_home(alone, move)
    ran = Path(f"/proc/{process.read_text().strip()}")
    wait_until(lambda: not ran.exists(), "the program has ended")


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_program_ends_with_the_agent(start, tmp_path, is_killed):
    process = tmp_path / "pid"
    alone = start(f"command:sleep 1000 & echo $! > {process}; wait")
    with alone.app() as app:
        wait_at_home(app)
        pid = wait_until(lambda: process.exists() and process.read_text().strip(), "the program runs")
    if is_killed:
        os.kill(alone.process.pid, signal.SIGKILL)
        alone.process.wait(10)
    else:
        alone.stop()
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), "what it started has ended")
    alone.stop = lambda: None


def test_nobody_says_it(start):
    alone = start("none")
    with alone.app() as app:
        wait_at_home(app)
        assert "nothing tells where this machine is" in reason(alone)


@pytest.mark.parametrize("value", ["gps", "file:", "command: "])
def test_a_source_that_is_not_one_is_refused_at_the_start(tmp_path, value):
    told = run_aldaba("agent", "--data", tmp_path, "--position", value, check=False)
    assert told.returncode != 0 and "file:PATH, command:COMMAND" in told.stderr


def test_who_names_a_socket_is_told_what_to_use_in_its_place(tmp_path):
    told = run_aldaba("agent", "--data", tmp_path, "--position", f"socket:{tmp_path / 'place'}", check=False)
    assert told.returncode != 0 and "(file:PATH)" in told.stderr and "(command:COMMAND)" in told.stderr


def test_the_real_geoclue_says_it_by_a_satellite_receiver(bus, start, tmp_path):
    receiver = geoclue.Receiver(tmp_path / "nmea", AWAY)
    try:
        geoclue.start_real(bus, tmp_path / "nmea", ARTEFACTS / "test_places.geoclue.log")
        geoclue.start_agent(bus)

        def move(*here):
            receiver.place = here

        come_home(start("geoclue", **bus.environment), move)
    finally:
        receiver.stop()


def test_the_real_geoclue_waits_for_an_agent_and_the_reason_says_so(bus, start, tmp_path):
    receiver = geoclue.Receiver(tmp_path / "nmea", AWAY)
    try:
        geoclue.start_real(bus, tmp_path / "nmea", ARTEFACTS / "test_places.geoclue.log")
        alone = start("geoclue", **bus.environment)
        with alone.app() as app:
            wait_at_home(app)
            wait_until(lambda: "waits for the desktop's agent" in reason(alone), "it is said what is missing")
            geoclue.start_agent(bus)
            wait_until(lambda: "now outside" in reason(alone), "the agent that came has let it know")
    finally:
        receiver.stop()


def test_geoclue_is_asked_while_something_waits_and_told_what_is_wanted(bus, start):
    mock = geoclue.Mock(bus)
    alone = start("geoclue", **bus.environment)
    bus.wait_for_rule("timedate1")
    assert mock.calls() == []

    def move(*here):
        wait_until(lambda: "Start" in mock.calls(), "the agent has started to look")
        mock.move(*here)

    come_home(alone, move)
    wait_until(lambda: mock.calls().count("Stop") == 1, "the agent has ended to look")
    assert mock.wishes() == ["aldaba", "8", "0", "5"]


def test_a_geoclue_that_ends_is_asked_again(bus, start):
    first = geoclue.Mock(bus)
    alone = start("geoclue", **bus.environment)
    with alone.app() as app:
        wait_at_home(app)
        wait_until(lambda: "Start" in first.calls(), "the first one is asked")
        first.end()
        wait_for_lines(alone.log, lambda lines: any("GeoClue has ended" in line for line in lines), "its end is told")
        second = geoclue.Mock(bus)
        wait_until(lambda: "Start" in second.calls(), "the second one is asked")
        second.move(*AWAY)
        wait_until(lambda: "now outside" in reason(alone), "it is heard")


def test_a_geoclue_that_refuses_and_one_that_is_missing_are_said_with_what_would_be_right(bus, start):
    alone = start("geoclue", **bus.environment)
    with alone.app() as app:
        wait_at_home(app)
        wait_until(lambda: "install the package geoclue-2.0" in reason(alone), "it is missing")
        denied = "raise dbus.exceptions.DBusException('no', name='org.freedesktop.DBus.Error.AccessDenied')"
        geoclue.Mock(bus, start=denied)
        wait_until(lambda: "does not let aldaba know" in reason(alone), "it refuses")


def test_what_others_say_in_geoclues_name_is_not_heard(bus, start):
    mock = geoclue.Mock(bus)
    alone = start("geoclue", **bus.environment)
    with alone.app() as app:
        wait_at_home(app)
        wait_until(lambda: "Start" in mock.calls(), "the agent has started to look")
        bus.mock("com.example.impostor", "/org/freedesktop/GeoClue2/Client/1", f"{geoclue.NAME}.Client")
        elsewhere = mock.add_location(*AWAY)
        bus.emit("com.example.impostor", "/org/freedesktop/GeoClue2/Client/1", f"{geoclue.NAME}.Client",
                 "LocationUpdated", "oo", ["/", elsewhere])
        mock.move(*HOME)
        wait_until(lambda: "now inside" in reason(alone), "GeoClue itself is heard")
        app.center("removePending", identifiers=["home"])
