"""Device-seconds: of one kind of device, by what it did; and by days, of which two are kept."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from zoneinfo import ZoneInfo

from llmservice.accounting.days import day_at, day_before, parts_by_day


class State(StrEnum):
    """What a device that is held did."""

    BUSY = "busy"
    """Its replica was ready and had requests."""
    IDLE = "idle"
    """Its replica was ready and had no request, running or waiting, by the engine's own counters."""
    STARTING = "starting"
    """Its replica was not ready (yet)."""
    UNKNOWN = "unknown"
    """Its replica could not be read. Never counted as idle."""


@dataclass(frozen=True, slots=True, order=True)
class Kind:
    """A type of device, and the resource that pods ask for it by. `accelerator` is empty where no type is known."""

    accelerator: str
    resource: str

    @property
    def shown(self) -> str:
        """How it is named: by its type, else by its resource."""
        return self.accelerator or self.resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Device-seconds by state. `asleep` are those that would not have been held if the service slept when idle.

    `asleep` is less what the starts would take that end each sleep: it may be negative.
    """

    busy: float = 0.0
    idle: float = 0.0
    starting: float = 0.0
    unknown: float = 0.0
    asleep: float = 0.0

    @property
    def held(self) -> float:
        """All device-seconds, whatever the devices did."""
        return self.busy + self.idle + self.starting + self.unknown

    def plus(self, state: State, seconds: float) -> "Usage":
        """With so many device-seconds more in a state."""
        return replace(self, **{state.value: getattr(self, state.value) + seconds})


Day = Mapping[Kind, Usage]
"""What each kind of device did on a day."""
Days = Mapping[date, Day]
"""What was counted, by day."""
_NOTHING = Usage()


def counted(days: Days, kind: Kind, state: State, devices: int, begin: float, end: float, zone: ZoneInfo) -> Days:
    """The days after so many devices were in a state from `begin` to `end` (seconds since 1970)."""
    found = {day: dict(kinds) for day, kinds in days.items()}
    for day, seconds in parts_by_day(begin, end, zone):
        kinds = found.setdefault(day, {})
        kinds[kind] = kinds.get(kind, _NOTHING).plus(state, seconds * devices)
    return found


def slept(days: Days, kind: Kind, devices: int, begin: float, end: float, zone: ZoneInfo) -> Days:
    """The days after a time in which so many devices would not have been held."""
    found = {day: dict(kinds) for day, kinds in days.items()}
    for day, seconds in parts_by_day(begin, end, zone):
        kinds = found.setdefault(day, {})
        usage = kinds.get(kind, _NOTHING)
        kinds[kind] = replace(usage, asleep=usage.asleep + seconds * devices)
    return found


def woken(days: Days, kind: Kind, device_seconds: float, moment: float, zone: ZoneInfo) -> Days:
    """The days after a start that would have ended a sleep, and held devices for so long."""
    day = day_at(moment, zone)
    kinds = dict(days.get(day, {}))
    usage = kinds.get(kind, _NOTHING)
    kinds[kind] = replace(usage, asleep=usage.asleep - device_seconds)
    return {**days, day: kinds}


def last_two(days: Days, now: float, zone: ZoneInfo) -> Days:
    """Today's and yesterday's."""
    today = day_at(now, zone)
    kept = (today, day_before(today))
    return days if all(day in kept for day in days) else {day: days[day] for day in kept if day in days}
