"""Triggers of local notifications: a time interval, the calendar, a region."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Union

from aldaba._agent_codec import MalformedMessage, Wired, key, read, read_fields, written


@dataclass(frozen=True)
class TimeIntervalTrigger(Wired):
    """Fires a number of seconds after the request. One that repeats has at least 60 seconds."""

    seconds: float
    repeats: bool = False

    @classmethod
    def _read(cls, value: object, path: str) -> TimeIntervalTrigger:
        return read_fields(cls, value, path)

    def _written(self) -> Any:
        return {"type": "timeInterval", "seconds": self.seconds, "repeats": self.repeats}


@dataclass(frozen=True)
class _Locale:
    identifier: str = ""


@dataclass(frozen=True)
class _TimeZone:
    identifier: str


@dataclass(frozen=True)
class Calendar(Wired):
    """The calendar in which the fields of a trigger count. `first_weekday` is 1 for Sunday."""

    identifier: str = "gregorian"
    time_zone: str = "GMT"
    locale: str = ""
    first_weekday: int = 1
    minimum_days_in_first_week: int = 1

    @classmethod
    def _read(cls, value: object, path: str) -> Calendar:
        if not isinstance(value, dict):
            raise MalformedMessage(f"{path}: an object is expected")
        known = {key: each for key, each in value.items() if key not in ("timeZone", "locale")}
        zone, locale = value.get("timeZone"), value.get("locale")
        if zone is not None:
            known["timeZone"] = read(_TimeZone, zone, f"{path}.timeZone").identifier
        if locale is not None:
            known["locale"] = read(_Locale, locale, f"{path}.locale").identifier
        return read_fields(cls, known, path)

    def _written(self) -> Any:
        return {
            "current": 0, "identifier": self.identifier, "firstWeekday": self.first_weekday,
            "minimumDaysInFirstWeek": self.minimum_days_in_first_week,
            "locale": {"current": 0, "identifier": self.locale}, "timeZone": {"identifier": self.time_zone}}


@dataclass(frozen=True)
class CalendarTrigger(Wired):
    """Fires when all fields that are given match.

    `weekday` is 1 for Sunday; `time_zone` is a name such as "Europe/Berlin".
    """

    era: int | None = None
    year: int | None = None
    month: int | None = None
    day: int | None = None
    hour: int | None = None
    minute: int | None = None
    second: int | None = None
    nanosecond: int | None = None
    weekday: int | None = None
    weekday_ordinal: int | None = None
    quarter: int | None = None
    week_of_month: int | None = None
    week_of_year: int | None = None
    year_for_week_of_year: int | None = None
    day_of_year: int | None = None
    is_leap_month: bool | None = None
    time_zone: str | None = None
    calendar: Calendar | None = None
    repeats: bool = False

    @classmethod
    def _read(cls, value: object, path: str) -> CalendarTrigger:
        components = value.get("components") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(components, dict):
            raise MalformedMessage(f"{path}.components: an object is expected")
        zone = components.get("timeZone")
        known = components | {"repeats": value.get("repeats", False)}
        known["timeZone"] = None if zone is None else read(_TimeZone, zone, f"{path}.components.timeZone").identifier
        return read_fields(cls, known, f"{path}.components")

    def _written(self) -> Any:
        components = {
            key(field.name): written(found) for field in fields(self)
            if field.name not in ("repeats", "time_zone") and (found := getattr(self, field.name)) is not None}
        if self.time_zone is not None:
            components["timeZone"] = {"identifier": self.time_zone}
        return {"type": "calendar", "components": components, "repeats": self.repeats}


@dataclass(frozen=True)
class RegionTrigger(Wired):
    """Fires when the machine enters or leaves a circle on the earth: degrees, and the radius in metres."""

    identifier: str
    latitude: float
    longitude: float
    radius: float
    on_entry: bool = True
    on_exit: bool = False
    repeats: bool = False

    @classmethod
    def _read(cls, value: object, path: str) -> RegionTrigger:
        region = value.get("region") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(region, dict):
            raise MalformedMessage(f"{path}.region: an object is expected")
        return read_fields(cls, region | {"repeats": value.get("repeats", False)}, f"{path}.region")

    def _written(self) -> Any:
        region = {
            "identifier": self.identifier, "latitude": self.latitude, "longitude": self.longitude,
            "radius": self.radius, "onEntry": self.on_entry, "onExit": self.on_exit}
        return {"type": "region", "region": region, "repeats": self.repeats}


Trigger = Union[TimeIntervalTrigger, CalendarTrigger, RegionTrigger]
TRIGGERS: dict[str, type[Wired]] = {
    "timeInterval": TimeIntervalTrigger, "calendar": CalendarTrigger, "region": RegionTrigger}


def read_trigger(value: object, path: str) -> Trigger | None:
    """The trigger that a JSON value describes; `None` for none, and for one of a later version."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise MalformedMessage(f"{path}: an object is expected")
    found = TRIGGERS.get(read(str, value.get("type", ""), f"{path}.type"))
    trigger: Trigger | None = found._read(value, path) if found else None
    return trigger
