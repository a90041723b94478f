"""A wall clock that is set while the agent runs: what that jumps over comes, what it goes back over does not come again."""

import pytest

from system_bus import SystemBus
from time_machine import TimeMachine, add, calendar, schedule, utc
from waiting import wait_for_lines

LOGIN = "org.freedesktop.login1"


class SetClock(TimeMachine):
    """Its wall clock is set, and a mock of login1 says that the machine has woken, which makes the agent look at its clocks."""

    def __init__(self, folder, bus):
        super().__init__(folder, "test_clock_steps")
        self.log.unlink(missing_ok=True)
        self._bus, self._looks = bus, 0
        bus.mock(LOGIN, "/org/freedesktop/login1", f"{LOGIN}.Manager")

    def begin(self, when):
        self.start_settable(when, **self._bus.environment)
        self._bus.wait_for_rule("timedate1")

    def restarted(self):
        """What it has said before does not count."""
        self._looks = self.log.read_text().count("machine has slept")

    def step(self, to):
        """Sets the clock; returns when the agent has looked at it."""
        self.set_clock(to)
        self._bus.emit(LOGIN, "/org/freedesktop/login1", f"{LOGIN}.Manager", "PrepareForSleep", "b", [False])
        self._looks += 1
        wait_for_lines(
            self.log, lambda lines: sum("machine has slept" in line for line in lines) == self._looks,
            "the agent looks at its clocks")


@pytest.fixture
def machine(tmp_path):
    bus = SystemBus()
    made = SetClock(tmp_path, bus)
    yield made
    made.end()
    bus.stop()


@pytest.mark.parametrize("begin, to, due, following", [
    ("2026-06-01T08:00", "2026-06-01T09:00:20", "2026-06-01T09:00", "2026-06-02T09:00"),
    ("2026-06-01T08:00", "2026-06-01T15:00:00", "2026-06-01T09:00", "2026-06-02T09:00"),
    ("2026-06-01T08:50", "2026-06-02T09:40:00", "2026-06-02T09:00", "2026-06-03T09:00"),
], ids=["in time", "late", "of two the last"])
def test_a_step_forward_over_a_deadline(machine, begin, to, due, following):
    machine.begin(utc(begin))
    schedule(machine, daily=calendar(hour=9))
    with machine.app() as app:
        machine.step(utc(to))
        got = app.wait_for_notification(20)
        assert got["identifier"] == "daily"
        assert utc(due).timestamp() <= got["date"] / 1000 <= utc(to).timestamp() + 20
        with pytest.raises(TimeoutError):
            app.wait_for_notification(1)
    assert machine.waiting("daily", fired=1)[0] == utc(following)


def test_a_step_far_ahead_that_is_put_right_changes_nothing(machine):
    machine.begin(utc("2026-06-01T08:59:50"))
    schedule(machine, daily=calendar(hour=9))
    with machine.app() as app:
        machine.step(utc("2030-01-01T12:00"))
        machine.step(utc("2026-06-01T08:59:57"))
        got = app.wait_for_notification(20)
        assert utc("2026-06-01T09:00").timestamp() <= got["date"] / 1000 <= utc("2026-06-01T09:00:10").timestamp()
        with pytest.raises(TimeoutError):
            app.wait_for_notification(1)
    assert machine.waiting("daily", fired=1)[0] == utc("2026-06-02T09:00")


def test_a_step_far_back_that_is_put_right_changes_nothing(machine):
    machine.begin(utc("2026-06-01T08:59:57"))
    schedule(machine, daily=calendar(hour=9), weekly={"type": "timeInterval", "seconds": 604_800, "repeats": True})
    with machine.app() as app:
        assert app.wait_for_notification(20)["identifier"] == "daily"
    weekly = machine.waiting("weekly", fired=0)
    machine.step(utc("2000-01-01T00:00"))
    machine.step(utc("2026-06-01T09:00:30"))
    with machine.app() as app:
        with pytest.raises(TimeoutError):
            app.wait_for_notification(3)
    assert machine.waiting("daily", fired=1)[0] == utc("2026-06-02T09:00")
    moved = abs((machine.waiting("weekly", fired=0)[0] - weekly[0]).total_seconds())
    assert moved < 60, "by what the steps of the test are inexact"


def test_an_agent_that_begins_far_behind_and_is_put_right(machine):
    machine.begin(utc("2026-06-01T08:59:57"))
    schedule(machine, daily=calendar(hour=9), once={**calendar(hour=10), "repeats": False})
    with machine.app() as app:
        assert app.wait_for_notification(20)["identifier"] == "daily"
        # Answered behind it: the agent has stored that the app has it, and hands it over no second time.
        add(app, once={**calendar(hour=10), "repeats": False})
    machine.end()
    machine.begin(utc("2000-01-01T09:59:58"))
    with machine.app() as app:
        with pytest.raises(TimeoutError):
            app.wait_for_notification(4)
    machine.restarted()
    machine.step(utc("2026-06-01T09:59:58"))
    with machine.app() as app:
        assert app.wait_for_notification(20)["identifier"] == "once"
    assert machine.waiting("daily", fired=1)[0] == utc("2026-06-02T09:00")


def test_a_step_back(machine):
    machine.begin(utc("2026-06-01T08:59:50"))
    schedule(machine, daily=calendar(hour=9), hourly=calendar(minute=0),
             interval={"type": "timeInterval", "seconds": 20, "repeats": False})
    machine.step(utc("2026-06-01T08:59:58"))
    with machine.app() as app:
        assert {app.wait_for_notification(20)["identifier"] for _ in range(2)} == {"daily", "hourly"}
    machine.step(utc("2026-06-01T08:30"))
    pending = machine.pending()
    assert pending["daily"][0] == utc("2026-06-02T09:00") and pending["hourly"][0] == utc("2026-06-01T10:00")
    assert utc("2026-06-01T08:30") < pending["interval"][0] <= utc("2026-06-01T08:30:20"), "it counts on in its own time"
    # Nine o'clock comes a second time.
    with machine.app() as app:
        machine.step(utc("2026-06-01T08:59:59"))
        with pytest.raises(TimeoutError):
            app.wait_for_notification(3)
        machine.step(utc("2026-06-01T09:59:58"))
        got = app.wait_for_notification(20)
    assert got["identifier"] == "hourly"
    assert utc("2026-06-01T10:00").timestamp() <= got["date"] / 1000 <= utc("2026-06-01T10:00:10").timestamp()
    assert machine.waiting("hourly", fired=2)[0] == utc("2026-06-01T11:00")
    with machine.app() as app:
        assert app.wait_for_notification(40)["identifier"] == "interval"
