"""The real agent with clocks that are not this machine's: changes of the clocks, of the zone, a year in steps, and deadlines at
which it is killed."""

import json
import random
import signal
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from time_machine import calendar, heard, schedule, utc
from waiting import wait_until

SPEED = 120


NIGHT, HALF, QUARTER = calendar(hour=2, minute=30), calendar(minute=30), calendar(hour=2, minute=15)

# Zone, what waits, and runs: where each begins (UTC), for how many minutes, and what comes when.
CHANGES = {
    "a time that is skipped comes when the clocks have been set forward": (
        "Europe/Berlin", {"night": NIGHT, "half": HALF}, [
            ("2026-03-29T00:55", 10, [("night", "2026-03-29T01:00")]),
            ("2026-03-30T00:25", 10, [("night", "2026-03-30T00:30"), ("half", "2026-03-30T00:30")]),
        ]),
    "a time that comes twice counts once, and what comes every hour comes in both": (
        "Europe/Berlin", {"night": NIGHT, "half": HALF}, [
            ("2026-10-24T23:57", 36, [("night", "2026-10-25T00:30"), ("half", "2026-10-25T00:30")]),
            ("2026-10-25T01:25", 10, [("half", "2026-10-25T01:30")]),
        ]),
    "a gap of half an hour": (
        "Australia/Lord_Howe", {"quarter": QUARTER}, [
            ("2026-10-03T15:25", 10, [("quarter", "2026-10-03T15:30")]),
            ("2026-10-04T15:10", 10, [("quarter", "2026-10-04T15:15")]),
        ]),
    "a fixed zone stays where it is": (
        "America/New_York", {"berlin": calendar(hour=9, timeZone={"identifier": "Europe/Berlin"})}, [
            ("2026-03-10T07:55", 10, [("berlin", "2026-03-10T08:00")]),
            ("2026-03-30T06:55", 10, [("berlin", "2026-03-30T07:00")]),
        ]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_clocks_that_are_set_forward_and_back(machine, name):
    zone, triggers, runs = CHANGES[name]
    for number, (begin, minutes, expected) in enumerate(runs):
        machine.start(utc(begin), zone, SPEED)
        if number == 0:
            schedule(machine, **triggers)
        # A little more for a machine with other work.
        found = heard(machine, minutes * 60 / SPEED + 2)
        # What was missed between two runs comes at the beginning of the next.
        found = [item for item in found if number == 0 or item[1] > utc(begin) + timedelta(minutes=4)]
        due = {identifier: utc(time) for identifier, time in expected}
        assert sorted(identifier for identifier, _ in found) == sorted(due), found
        for identifier, time in found:
            assert due[identifier] <= time <= due[identifier] + timedelta(minutes=2), found
        machine.end()


def test_a_machine_that_travels(machine):
    link = machine.folder / "localtime"
    link.symlink_to("/usr/share/zoneinfo/Europe/Berlin")

    def travel(zone):
        new = machine.folder / "localtime.new"
        new.symlink_to(f"/usr/share/zoneinfo/{zone}")
        new.rename(link)

    machine.start(utc("2026-06-01T06:50"), f":{link}")
    schedule(machine, floating=calendar(hour=9), fixed=calendar(hour=9, timeZone={"identifier": "Europe/Berlin"}))
    assert {name: times[0] for name, times in machine.pending().items()} == {
        "floating": utc("2026-06-01T07:00"), "fixed": utc("2026-06-01T07:00")}
    travel("America/New_York")
    wait_until(
        lambda: machine.pending()["floating"][0] == utc("2026-06-01T13:00"), "nine o'clock is New York's now")
    assert machine.pending()["fixed"][0] == utc("2026-06-01T07:00")
    # Ten minutes before nine in Berlin it is ten minutes before ten in Helsinki: nine was jumped over.
    travel("Europe/Berlin")
    wait_until(lambda: machine.pending()["floating"][0] == utc("2026-06-01T07:00"), "back in Berlin")
    with machine.app() as app:
        travel("Europe/Helsinki")
        assert app.wait_for_notification(20)["identifier"] == "floating"
    assert machine.pending()["floating"][0] == utc("2026-06-02T06:00")


def test_a_zone_that_is_set_by_taking_the_link_away(machine):
    """Nothing is due by the zone that there seems to be between."""
    link = machine.folder / "localtime"
    link.symlink_to("/usr/share/zoneinfo/America/New_York")
    machine.start(utc("2026-06-01T16:40"), f":{link}")
    schedule(machine, later=calendar(hour=14, minute=41))
    assert machine.pending()["later"][0] == utc("2026-06-01T18:41")
    for pause in (0, 0.4):
        link.unlink()
        if pause:
            machine.live(pause)
        link.symlink_to("/usr/share/zoneinfo/America/New_York")
        machine.live(1)
        assert machine.waiting("later", fired=0)[0] == utc("2026-06-01T18:41")
    link.unlink()
    link.symlink_to("/usr/share/zoneinfo/America/Chicago")
    wait_until(lambda: machine.pending()["later"][0] == utc("2026-06-01T19:41"), "it is Chicago's time now")


def test_a_year_in_steps(machine):
    """Off for a week each time: of seven nights that were missed the last comes late, once."""
    zone, berlin = "Europe/Berlin", ZoneInfo("Europe/Berlin")
    now = datetime(2026, 1, 5, 12, 0, tzinfo=berlin)
    machine.start(now.astimezone(timezone.utc), zone)
    schedule(machine, daily=calendar(hour=2, minute=30), monthly=calendar(day=31, hour=9))
    machine.end()
    for week in range(1, 53):
        then = now + timedelta(weeks=week)
        machine.start(then.astimezone(timezone.utc), zone)
        daily = wait_until(lambda: machine.waiting("daily", fired=week), f"week {week}: it comes late")
        assert daily == [following(then, day) for day in (1, 2, 3)], f"week {week}"
        machine.end()


def following(day, count):
    """Half past two so many days later; on the day when that is skipped three o'clock, where it comes twice the first."""
    local = datetime(day.year, day.month, day.day, 2, 30, tzinfo=day.tzinfo) + timedelta(days=count)
    there = local.astimezone(timezone.utc)
    if there.astimezone(day.tzinfo).replace(tzinfo=None) != local.replace(tzinfo=None):
        return local.replace(hour=3, minute=0).astimezone(timezone.utc)
    return there


def test_killed_around_every_deadline(machine):
    names = [f"deadline {number}" for number in range(30)]
    machine.start()
    for number, name in enumerate(names):
        machine.aldaba("notify", name, "--in", f"{2 + number // 3}")
    chance = random.Random(7)

    def listed():
        return [item["content"]["title"] for item in
                json.loads(machine.aldaba("notifications", "list", "--json").stdout)]

    deaths = 0
    while set(listed()) != set(names):
        assert deaths < 200, f"they do not come: {listed()}"
        machine.live(chance.uniform(0, 0.5))
        machine.end(signal.SIGKILL)
        deaths += 1
        machine.start()
    assert sorted(listed()) == sorted(names), "each once"
    assert deaths >= 10
    assert machine.pending() == {}


def marks(number, begin, end):
    """How often the clock has shown this second of a minute after one time, and not after another."""
    return int((end.timestamp() - number) // 60) - int((begin.timestamp() - number) // 60)


def test_killed_while_it_repeats(machine):
    machine.start()
    before = datetime.now(timezone.utc)
    schedule(machine, **{f"second {number}": calendar(second=number) for number in range(60)})
    after = datetime.now(timezone.utc)
    chance = random.Random(11)
    deaths = 0
    while datetime.now(timezone.utc) < after + timedelta(seconds=20):
        machine.live(chance.uniform(0, 0.5))
        machine.end(signal.SIGKILL)
        deaths += 1
        machine.start()
    asked = datetime.now(timezone.utc)
    told = json.loads(machine.aldaba("notifications", "pending", "--json").stdout)
    answered = datetime.now(timezone.utc)
    fired = {item["identifier"]: item["fired"] for item in told}
    assert len(fired) == 60, "none has left"
    for number in range(60):
        # What was due while it was asked may have come or not.
        least, most = marks(number, after, asked - timedelta(seconds=1)), marks(number, before, answered)
        assert least <= fired[f"second {number}"] <= most, f"second {number}"
    assert deaths >= 10
    assert sum(fired.values()) >= 18, "each once"
