"""What a person at a terminal asks of reminders, and is told about them, by the real program."""

import json
import os
import shutil

import pytest

from aldaba_process import run_aldaba
from time_machine import calendar, schedule, utc
from waiting import wait_until

SHELL = "aldaba.notify"


def told(machine, *arguments):
    """The one reminder that `notify` says it has made."""
    return json.loads(machine.aldaba("notify", *arguments, "--json").stdout)


# Zone, when (UTC) it is asked, the words, and the next times that are told.
TIMES = [
    ("Europe/Berlin", "2026-03-28T12:00", ["--at", "02:30"], ["2026-03-29T03:00:00+02:00"]),
    ("Europe/Berlin", "2026-06-01T12:00", ["--at", "9:30", "--every", "day"],
     ["2026-06-02T09:30:00+02:00", "2026-06-03T09:30:00+02:00", "2026-06-04T09:30:00+02:00"]),
    ("Europe/Berlin", "2026-10-24T12:00", ["--at", "02:30", "--every", "sunday"],
     ["2026-10-25T02:30:00+02:00", "2026-11-01T02:30:00+01:00", "2026-11-08T02:30:00+01:00"]),
    ("America/Nuuk", "2026-03-28T12:00", ["--at", "2026-03-28 23:30"], ["2026-03-29T00:00:00-01:00"]),
    ("America/Nuuk", "2026-03-28T12:00", ["--at", "23:30", "--every", "saturday"],
     ["2026-03-29T00:00:00-01:00", "2026-04-04T23:30:00-01:00", "2026-04-11T23:30:00-01:00"]),
    ("UTC", "2026-06-01T12:00", ["--at", "18:00", "--zone", "Asia/Kathmandu"], ["2026-06-01T18:00:00+05:45"]),
    ("UTC", "2026-06-01T12:00", ["--at", "2026-12-24T18:00+01"], ["2026-12-24T18:00:00+01:00"]),
]


@pytest.mark.parametrize("zone, now, words, times", TIMES)
def test_a_reminder_is_told_of_by_its_zones_clocks(machine, zone, now, words, times):
    machine.start(utc(now), zone)
    made = machine.aldaba("notify", "Dentist", "Bring the card", "--id", "dentist", *words).stdout.split("\n")
    assert made[0] == f"{SHELL}  dentist  Dentist - Bring the card"
    assert made[1].strip().split(": ")[0] == ", ".join(times)
    assert made == machine.aldaba("notifications", "pending").stdout.split("\n")
    assert ("clocks skip that time" in made[1]) == (times[0][14:16] not in " ".join(words)), made[1]


def test_what_cannot_be_says_why(machine):
    machine.start(utc("2026-10-25T00:45"), "UTC")
    for words, code, reason in [
        (["--at", "2026-10-24 18:00"], 3, "its time has passed: 2026-10-24T18:00:00Z\n"),
        (["--at", "2026-10-25 02:30", "--zone", "Europe/Berlin"], 3, "clocks show it again at 2026-10-25T02:30:00+01:00"),
        (["--at", "2027-02-29 10:00"], 3, "no date is of these fields: year=2027 month=2 day=29"),
        (["--at", "2026-x-12-24 18:00"], 2, "not 2026-x-12-24 18:00"),
        (["--every", "day", "--at", "24:00"], 2, "not 24:00"),
        (["--at", "09:00", "--zone", "BST"], 2, "there is no time zone BST"),
        (["--near", "0,0,30000000"], 2, "up to 20000000"),
        (["--in", "5m", "--button", "yes=Yes"], 2, "nobody hears a later answer"),
        (["y" * 15_000, "--in", "5m"], 3, "it says more than 14336 bytes"),
    ]:
        refused = machine.aldaba("notify", "x", *words, check=False)
        assert (refused.returncode, refused.stdout) == (code, ""), words
        assert reason in refused.stderr, refused.stderr
    refused = run_aldaba("notifications", "next", "--zone", "BST", "hour=9", check=False)
    assert refused.returncode == 2 and "there is no time zone BST" in refused.stderr
    refused = run_aldaba("notifications", "next", "hour=9", "hour=10", check=False)
    assert refused.returncode == 2 and "given twice" in refused.stderr


def test_no_script_takes_another_ones_reminder_away(machine):
    machine.start()
    machine.aldaba("notify", "Medicine", "--every", "day", "--at", "08:00", "--id", "medicine")
    for number in range(63):
        machine.aldaba("notify", f"s{number}", "--in", "1h", "--id", f"s{number}")
    refused = machine.aldaba("notify", "one more", "--in", "1h", check=False)
    assert refused.returncode == 3 and "64 notifications of terminals wait already" in refused.stderr
    assert "medicine" in machine.pending() and len(machine.pending()) == 64
    machine.aldaba("notifications", "cancel", "s7")
    machine.aldaba("notify", "one more", "--in", "1h", "--id", "more")
    assert {"medicine", "more"} < set(machine.pending())
    wrong = machine.aldaba("notifications", "cancel", check=False)
    assert wrong.returncode == 2 and "--all" in wrong.stderr
    machine.aldaba("notifications", "cancel", "--all")
    assert machine.pending() == {}


def test_pending_shows_each_however_many_there_are(machine):
    machine.start()
    with machine.app() as app:
        for number in range(64):
            app.center("add", notification={
                "identifier": f"app {number}", "content": {"title": "x" * 13_000},
                "trigger": {"type": "timeInterval", "seconds": 60 * (number + 1), "repeats": number % 2 == 0}})
    for number in range(32):
        machine.aldaba("notify", f"shell {number}", "y" * 13_000, "--in", f"{90 * (number + 1)}", "--id", f"shell {number}")
    shown = machine.aldaba("notifications", "pending", "--json").stdout
    assert len(shown) > 1 << 20, "more than one message can carry"
    names = [item["identifier"] for item in json.loads(shown)]
    assert sorted(names) == sorted([f"app {number}" for number in range(64)] + [f"shell {number}" for number in range(32)])
    times = [item["times"][0] for item in json.loads(shown)]
    assert times == sorted(times), "what is due first comes first"
    assert len(machine.aldaba("notifications", "pending", "--app", SHELL).stdout.strip().split("\n")) == 64


def zone_files(folder):
    """Zone files of a test's own."""
    folder.mkdir()
    for name in ("Africa/Cairo", "Europe/Berlin", "Asia/Tokyo", "UTC"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(f"/usr/share/zoneinfo/{name}", folder / name)
    return folder


def replace(folder, name, other):
    """A zone's file becomes another's, as an update of the zone files does it."""
    fresh = folder / f"{name}.new"
    shutil.copy(f"/usr/share/zoneinfo/{other}", fresh)
    os.rename(fresh, folder / name)


def test_what_waits_goes_by_the_zone_files_as_they_are(machine, tmp_path):
    folder = zone_files(tmp_path / "zoneinfo")
    machine.start(utc("2026-05-31T22:00"), "UTC", TZDIR=str(folder))
    schedule(machine, cairo=calendar(hour=18, timeZone={"identifier": "Africa/Cairo"}),
             other=calendar(hour=18, timeZone={"identifier": "Europe/Berlin"}))
    machine.end()
    machine.start(utc("2026-06-01T06:00"), "UTC", TZDIR=str(folder))
    assert machine.pending()["cairo"][0] == utc("2026-06-01T15:00")
    # As if Egypt had gone over to Tokyo's time: six hours earlier.
    replace(folder, "Africa/Cairo", "Asia/Tokyo")
    wait_until(lambda: machine.pending()["cairo"][0] == utc("2026-06-01T09:00"), "it goes by the new rules")
    assert machine.pending()["other"][0] == utc("2026-06-01T16:00")
    # And then to a time of which 18:00 has been jumped over just now.
    replace(folder, "Africa/Cairo", "Pacific/Kiritimati")
    wait_until(lambda: machine.waiting("cairo", fired=1), "what was jumped over is due")
    assert machine.pending()["cairo"][0] == utc("2026-06-02T04:00")


def test_places_say_what_is_known(machine, tmp_path):
    place = tmp_path / "position"
    machine.start(ALDABA_POSITION=f"file:{place}")
    made = told(machine, "Home", "--near", "52.5,13.4", "--id", "home")
    assert "where this machine is" in made["reason"] and "outside" not in made["reason"]

    def reason():
        return json.loads(machine.aldaba("notifications", "pending", "--json").stdout)[0]["reason"]

    place.write_text("52.6 13.4\n")
    wait_until(lambda: "now it seems outside, which counts after 20 s" in reason(), "a position has come")
    wait_until(lambda: "; now outside; by the file" in reason(), "it has lasted", 40)
    place.unlink()
    wait_until(lambda: "last known outside; where this machine is, is not known" in reason(), "it is lost")
    machine.end()
    machine.start(ALDABA_POSITION="none")
    assert "last known outside; nothing tells where this machine is" in reason()
