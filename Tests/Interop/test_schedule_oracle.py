"""The next moments of calendar fields, beside the same rules in Python over the same zone files."""

import concurrent.futures
import datetime
import json
import os
import random
import subprocess
import zoneinfo

import pytest

import schedule_rules
from aldaba_process import BINARY, clean_environment

SEED = 20_260_328
CASES = int(os.environ.get("ALDABA_SCHEDULE_CASES", 210_000))
ZONES = ("America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Africa/Cairo", "Pacific/Apia", "Asia/Kathmandu",
         "UTC", "America/Sao_Paulo", "Asia/Tehran", "Africa/Casablanca", "Europe/Dublin", "America/St_Johns",
         "Antarctica/Troll", "America/Nuuk", "Asia/Gaza")
EARLIEST, LATEST = 631_152_000, 2_366_841_600  # 1990 and 2045
TIMES = (("hour", "minute"), ("hour", "minute"), ("hour",), ("minute",), ("hour", "second"), ("hour", "minute", "second"),
         ("minute", "second"), ("second",), ("hour", "minute", "nanosecond"), ())
DATES = ((), (), (), ("weekday",), ("weekday",), ("day",), ("month", "day"), ("month",), ("weekday", "weekdayOrdinal"),
         ("month", "weekday", "weekdayOrdinal"), ("weekdayOrdinal",), ("quarter",), ("quarter", "weekday"),
         ("weekOfYear",), ("weekOfYear", "weekday"), ("weekOfMonth",), ("weekOfMonth", "weekday"), ("month", "weekOfMonth"),
         ("year", "month", "day"), ("year", "month"), ("dayOfYear",), ("yearForWeekOfYear", "weekOfYear", "weekday"),
         ("yearForWeekOfYear",), ("month", "weekOfYear"), ("day", "weekday"), ("year", "dayOfYear"),
         ("month", "day", "weekday"))
RANGES = {"hour": (0, 24), "minute": (0, 59), "second": (0, 59), "nanosecond": (0, 999_999_999), "weekday": (1, 7),
          "weekdayOrdinal": (1, 5), "day": (1, 31), "month": (1, 12), "quarter": (1, 4), "weekOfYear": (1, 53),
          "weekOfMonth": (0, 6), "dayOfYear": (1, 366)}


def question(random):
    """A question, as a line of `aldaba notifications next --batch`; three of five are about a change of the clocks."""
    name = random.choice(ZONES)
    clock = schedule_rules.zone(name)
    changes = [each for each in clock.changes if EARLIEST < each[0] < LATEST]
    about = None
    if changes and random.random() < 0.65:
        about = random.choice(changes)
        after = about[0] + random.choice((0, -1, random.randint(-10_800, 10_800), random.randint(-400_000, 200_000)))
    else:
        after = random.randint(EARLIEST, LATEST)
    after = after * 1000 + random.choice((0, 0, -1, random.randint(0, 999)))
    iso = random.random() < 0.4
    wanted = random.choice(TIMES) + random.choice(DATES)
    # Each second of an hour, or of all hours, is slow to look through; a few of them will do.
    if random.random() < 0.003:
        wanted = ("hour", "nanosecond") if random.random() < 0.97 else ("nanosecond",)
    if not wanted:
        wanted = ("minute",)
    second = (about[0] if about else after // 1000) + random.randint(-9000, 9000)
    shown = datetime.datetime.fromtimestamp(second + (about or (0, 0, clock.offset(second)))[random.choice((1, 2)) if about else 2],
                                            datetime.timezone.utc)
    near = dict(zip(schedule_rules.DAY_FIELDS, schedule_rules.fields_of(shown.date(), iso)))
    near |= {"hour": shown.hour, "minute": shown.minute, "second": shown.second}
    likely = random.choice((0.0, 0.5, 0.9, 1.0))
    fields = {}
    for field in wanted:
        if field in near and (random.random() < likely or field not in RANGES):
            fields[field] = near[field] + (random.randint(-1, 6) if field not in RANGES and random.random() < 0.5 else 0)
        else:
            fields[field] = random.randint(*RANGES[field])
    if fields.get("minute", 0) and random.random() < 0.4:
        fields["minute"] = random.choice((0, 15, 30, 45))
    asked = {"zone": name, "after": after / 1000, "fields": fields, "count": random.choice((1, 2, 2, 3))}
    return asked | ({"calendar": "iso8601"} if iso else {})


def expected(asked):
    if asked["fields"].get("hour") == 24:
        return []
    return schedule_rules.next_fires(asked["zone"], round(asked["after"] * 1000), asked["fields"], asked["count"],
                                     "calendar" in asked)


def differences(part):
    """Draws one part of the cases and compares them; returns how many were about a change, and what differs."""
    source = random.Random(SEED + part)
    asked = [question(source) for _ in range(CASES // PARTS)]
    lines = "".join(json.dumps(each) + "\n" for each in asked)
    told = subprocess.run([str(BINARY), "notifications", "next", "--batch"], input=lines, capture_output=True, text=True,
                          env=clean_environment(TZDIR="/usr/share/zoneinfo"), timeout=300)
    assert told.returncode == 0, told.stderr
    answers = [[round(second * 1000) for second in json.loads(line)] for line in told.stdout.splitlines()]
    assert len(answers) == len(asked)
    different, fired = [], 0
    for each, answer in zip(asked, answers):
        right = expected(each)
        fired += len(right)
        if answer != right:
            different.append((each, right, answer))
    return fired, different


PARTS = 30


@pytest.mark.timeout(600)
def test_the_next_moments_are_those_of_the_rules_over_zoneinfo(capsys):
    zoneinfo.reset_tzpath(["/usr/share/zoneinfo"])
    # What the parts share is made once, before they part.
    for name in ZONES:
        schedule_rules.zone(name)
    for iso in (False, True):
        schedule_rules.days(iso)
    with concurrent.futures.ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = list(pool.map(differences, range(PARTS)))
    fired = sum(result[0] for result in results)
    different = [each for result in results for each in result[1]]
    with capsys.disabled():
        print(f"\n{CASES} cases, {fired} moments, seed {SEED}, {len(ZONES)} zones", end=" ")
    shown = "\n".join(f"{json.dumps(asked)}\n  rules {right}\n  ours  {answer}" for asked, right, answer in different[:10])
    assert not different, f"{len(different)} of {CASES} cases differ\n{shown}"
    assert fired > CASES

