"""When fields of a calendar match: the rules of Sources/Agent/Scheduling/README.md by brute force over Python's zoneinfo.

Nothing here is clever: days are looked through one by one in a table of their fields, and each local time is asked of
zoneinfo, which says whether clocks show it once, twice or never.
"""

import bisect
import datetime
import functools
import zoneinfo

UTC = datetime.timezone.utc
EPOCH = datetime.date(1970, 1, 1)
FIRST, LAST = datetime.date(1985, 1, 1), datetime.date(2170, 1, 1)
DAY_FIELDS = ("year", "month", "day", "weekday", "weekdayOrdinal", "quarter", "weekOfMonth", "weekOfYear",
              "yearForWeekOfYear", "dayOfYear")
YEARS_AHEAD = 40


def fields_of(date, iso):
    """A day's fields; weeks begin on Sunday and the first has the first day, or as ISO 8601 has them."""
    first = date.replace(day=1)
    if iso:
        week_year, week, _ = date.isocalendar()
        before = first.weekday()
        week_of_month = (date.day - 1 + before) // 7 + (1 if 7 - before >= 4 else 0)
    else:
        saturday = date + datetime.timedelta(days=6 - (date.weekday() + 1) % 7)
        week_year, week = saturday.year, (saturday.timetuple().tm_yday - 1) // 7 + 1
        week_of_month = (date.day - 1 + (first.weekday() + 1) % 7) // 7 + 1
    return (date.year, date.month, date.day, (date.weekday() + 1) % 7 + 1, (date.day - 1) // 7 + 1,
            (date.month - 1) // 3 + 1, week_of_month, week, week_year, date.timetuple().tm_yday)


class Days:
    """All days with their fields, and of each value the days that have it."""

    def __init__(self, iso):
        self.start = (FIRST - EPOCH).days
        self.fields = [fields_of(FIRST + datetime.timedelta(days=number), iso) for number in range((LAST - FIRST).days)]
        self.by_value = {}
        for number, fields in enumerate(self.fields):
            for field, value in enumerate(fields):
                self.by_value.setdefault((field, value), []).append(self.start + number)

    def matches(self, day, wanted):
        fields = self.fields[day - self.start]
        return all(fields[field] == value for field, value in wanted)

    def matching(self, day, last_year, wanted, is_period):
        """The matching days from one on; of a period its first."""
        lists = [self.by_value.get(each, []) for each in wanted]
        shortest = min(lists, key=len) if lists else range(self.start, self.start + len(self.fields))
        year_is_given = any(field in (0, 8) for field, _ in wanted)
        for each in shortest[bisect.bisect_left(shortest, day):]:
            if not year_is_given and self.fields[each - self.start][0] > last_year:
                return
            if self.matches(each, wanted) and not (is_period and self.matches(each - 1, wanted)):
                yield each


@functools.cache
def days(iso):
    return Days(iso)


class Zone:
    """A zone by what zoneinfo says of instants and of local times."""

    def __init__(self, name):
        self.info = zoneinfo.ZoneInfo(name)
        self.changes = []
        second, end = self.day_start(FIRST), self.day_start(LAST)
        known = self.offset(second)
        while second < end:
            following = second + 2 * 86400
            if self.offset(following) != known:
                before, after = second, following
                while after - before > 1:
                    middle = (before + after) // 2
                    before, after = (middle, after) if self.offset(middle) == known else (before, middle)
                self.changes.append((after, known, self.offset(after)))
                known, following = self.offset(after), after
            second = following
        # Local days on which, or beside which, clocks change.
        self.restless = set()
        for second, old, new in self.changes:
            low, high = sorted((second + old, second + new))
            self.restless.update(range(low // 86400 - 1, high // 86400 + 2))

    @staticmethod
    def day_start(date):
        return (date - EPOCH).days * 86400

    def offset(self, second):
        return int(datetime.datetime.fromtimestamp(second, self.info).utcoffset().total_seconds())

    def instants(self, local):
        """The instants at which clocks show a second, in order; empty in a gap."""
        shown = datetime.datetime.fromtimestamp(local, UTC).replace(tzinfo=self.info)
        offsets = {int(shown.replace(fold=fold).utcoffset().total_seconds()) for fold in (0, 1)}
        return sorted(local - offset for offset in offsets if self.offset(local - offset) == offset)

    def after_gap(self, local):
        """The first instant after the gap in which a local second is, and the gap's length."""
        for second, old, new in self.changes:
            if second + old <= local < second + new:
                return second, new - old
        raise AssertionError(f"{local} is in no gap of {self.info.key}")


@functools.cache
def zone(name):
    return Zone(name)


def times(fields, floor):
    """The seconds of a day at which the fields of the time match, from one on."""
    below = ("hour", "minute", "second", "nanosecond")

    def values(name, count):
        if name in fields:
            return (fields[name],)
        lower = below[below.index(name) + 1:]
        return range(count) if any(each in fields for each in lower) else (0,)

    for hour in values("hour", 24):
        if hour * 3600 + 3599 < floor:
            continue
        for minute in values("minute", 60):
            if hour * 3600 + minute * 60 + 59 < floor:
                continue
            for second in values("second", 60):
                if hour * 3600 + minute * 60 + second >= floor:
                    yield hour * 3600 + minute * 60 + second


def next_fires(name, after, fields, count, iso=False):
    """The next instants in milliseconds, not more than so many; `after` in milliseconds."""
    clock, table = zone(name), days(iso)
    wanted = [(index, fields[field]) for index, field in enumerate(DAY_FIELDS) if field in fields]
    has_time = any(field in fields for field in ("hour", "minute", "second", "nanosecond"))
    is_period = not has_time and not any(field in fields for field in ("day", "weekday", "dayOfYear"))
    hour_is_certain = "hour" in fields or not has_time
    part = fields.get("nanosecond", 0) // 1_000_000
    if not fields:
        return []
    local = (after + 1) // 1000 + clock.offset((after + 1) // 1000)
    last_year = table.fields[local // 86400 - table.start][0] + YEARS_AHEAD
    found, last_day, enough = set(), None, None
    for day in table.matching(local // 86400 - 2, last_year, wanted, is_period):
        if last_day is not None and len(found) >= count and day > last_day + 2:
            break
        is_restless = day in clock.restless
        if not is_restless and len(found) >= count and (last_day is None or last_day not in clock.restless):
            break
        last_day = day
        if is_restless:
            # Which offsets there may be, so that not all times of the day need be looked at.
            low, high = sorted(clock.offset((day + each) * 86400) for each in (-1, 2))
            for time in times(fields, after // 1000 + low - day * 86400):
                second = day * 86400 + time
                if enough is None and len(found) >= count:
                    enough = max(found)
                if enough is not None and (second - high) * 1000 > enough:
                    break
                instants = clock.instants(second)
                if instants:
                    chosen = instants[:1] if hour_is_certain else instants
                    found.update(each * 1000 + part for each in chosen if each * 1000 + part > after)
                elif hour_is_certain:
                    following, length = clock.after_gap(second)
                    if length < 86400 and following * 1000 > after:
                        found.add(following * 1000)
            continue
        offset = clock.offset(day * 86400 - clock.offset(day * 86400))
        begin = after // 1000 + offset - day * 86400
        new = 0
        for time in times(fields, begin):
            instant = (day * 86400 + time - offset) * 1000 + part
            if instant > after:
                found.add(instant)
                new += 1
                if new >= count:
                    break
    chosen = sorted(found)[:count]
    if 0 < len(chosen) < count:
        # As far ahead of each as of the first.
        chosen += next_fires(name, chosen[-1], fields, count - len(chosen), iso)
    return chosen
