"""Which bounds hold when: days, nights, weeks, and the clock that goes forward and back."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from llmservice.autoscaling.schedules import Bounds, Timetable
from llmservice.planning.scaling_plan import Schedule

WEEKDAYS = frozenset(range(5))
EVERY_DAY = frozenset(range(7))
BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"


def a_schedule(name: str, start: str, end: str, **changes: Any) -> Schedule:
    """Every day in Berlin, three replicas at least."""
    values: dict[str, Any] = {"days": EVERY_DAY, "time_zone": BERLIN, "minimum": 3}
    return Schedule(name=name, start=_minutes(start), end=_minutes(end), **(values | changes))


def a_timetable(*schedules: Schedule) -> Timetable:
    return Timetable(minimum=1, maximum=8, schedules=schedules)


def at(text: str, zone: str = BERLIN, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()


def _minutes(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


OFFICE = a_schedule("office", "08:00", "18:00", days=WEEKDAYS)


@pytest.mark.parametrize(
    ("moment", "held", "until", "following"),
    [
        ("2026-11-23T07:59:59", "", "2026-11-23T08:00", "office"),  # a Monday
        ("2026-11-23T08:00", "office", "2026-11-23T18:00", ""),
        ("2026-11-23T17:59:59", "office", "2026-11-23T18:00", ""),
        ("2026-11-23T18:00", "", "2026-11-24T08:00", "office"),
        ("2026-11-27T18:00", "", "2026-11-30T08:00", "office"),  # over the weekend
        ("2026-11-28T12:00", "", "2026-11-30T08:00", "office"),
    ],
)
def test_a_week_of_office_hours(moment: str, held: str, until: str, following: str) -> None:
    bounds = a_timetable(OFFICE).at(at(moment))
    assert (bounds.schedule, bounds.until, bounds.following) == (held, at(until), following)
    assert (bounds.minimum, bounds.maximum) == ((3, 8) if held else (1, 8))


def test_what_ends_before_it_begins_ends_on_the_next_day() -> None:
    night = a_schedule("night", "22:00", "06:00", days=frozenset({4}), minimum=None, maximum=2)  # Friday
    table = a_timetable(night)
    assert table.at(at("2026-11-27T21:59")).schedule == ""
    assert table.at(at("2026-11-28T05:59")) == Bounds(
        minimum=1, maximum=2, schedule="night", until=at("2026-11-28T06:00")
    )
    assert table.at(at("2026-11-28T22:30")).schedule == ""


def test_of_several_the_first_counts_and_gives_way_to_the_next() -> None:
    lunch = a_schedule("lunch", "12:00", "13:00", minimum=5)
    table = a_timetable(lunch, OFFICE)
    before, during = table.at(at("2026-11-23T11:00")), table.at(at("2026-11-23T12:00"))
    assert (before.schedule, before.until, before.following) == ("office", at("2026-11-23T12:00"), "lunch")
    assert (during.minimum, during.until, during.following) == (5, at("2026-11-23T13:00"), "office")


def test_schedules_that_meet_leave_no_moment_between_them() -> None:
    table = a_timetable(a_schedule("day", "06:00", "22:00"), a_schedule("night", "22:00", "06:00", minimum=2))
    assert [table.at(at(f"2026-11-23T{hour}")).schedule for hour in ("21:59:59", "22:00")] == ["day", "night"]
    assert table.at(at("2026-11-24T05:59:59")).following == "day"


def test_what_always_holds_ends_never() -> None:
    bounds = a_timetable(a_schedule("always", "00:00", "24:00")).at(at("2026-11-23T09:00"))
    assert (bounds.schedule, bounds.until) == ("always", None)


def test_hours_are_those_of_the_time_zone() -> None:
    table = a_timetable(a_schedule("office", "08:00", "18:00", time_zone=NEW_YORK))
    assert table.at(at("2026-11-23T13:59")).schedule == ""
    assert table.at(at("2026-11-23T14:00")).schedule == "office"


def held_on(day: str, schedule: Schedule, *, hours: int = 26) -> list[tuple[float, float]]:
    """When it holds around this day, as (begin, end), found by asking every minute."""
    first, table = at(f"{day}T00:00"), a_timetable(schedule)
    moments = [first + 60.0 * minute for minute in range(60 * hours)]
    held = [moment for moment in moments if table.at(moment).schedule]
    begins = [moment for moment in held if not table.at(moment - 60).schedule]
    ends = [moment + 60 for moment in held if not table.at(moment + 60).schedule]
    return list(zip(begins, ends, strict=True))


@pytest.mark.parametrize(
    ("start", "end", "begin", "until"),
    [
        ("01:00", "05:00", "01:00+01:00", "05:00+02:00"),  # three hours instead of four
        ("02:30", "05:00", "03:30+02:00", "05:00+02:00"),  # 02:30 never comes
        ("01:00", "02:30", "01:00+01:00", "03:30+02:00"),
        ("02:10", "02:50", "03:10+02:00", "03:50+02:00"),
    ],
)
def test_when_the_clock_goes_forward_it_holds_once(start: str, end: str, begin: str, until: str) -> None:
    day = "2026-03-29"
    expected = [datetime.fromisoformat(f"{day}T{time}").timestamp() for time in (begin, until)]
    assert held_on(day, a_schedule("early", start, end), hours=12) == [(expected[0], expected[1])]


@pytest.mark.parametrize(
    ("start", "end", "begin", "until"),
    [
        ("01:00", "05:00", "01:00+02:00", "05:00+01:00"),  # five hours instead of four
        ("02:30", "05:00", "02:30+02:00", "05:00+01:00"),  # 02:30 comes twice: the first counts
        ("01:00", "02:30", "01:00+02:00", "02:30+02:00"),
        ("02:10", "02:50", "02:10+02:00", "02:50+02:00"),
    ],
)
def test_when_the_clock_goes_back_it_holds_once(start: str, end: str, begin: str, until: str) -> None:
    day = "2026-10-25"
    expected = [datetime.fromisoformat(f"{day}T{time}").timestamp() for time in (begin, until)]
    assert held_on(day, a_schedule("early", start, end), hours=12) == [(expected[0], expected[1])]


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_the_next_change_is_when_it_is_said(day: str) -> None:
    """Asked at any moment, `until` is the first at which something else holds."""
    table = a_timetable(a_schedule("early", "01:30", "02:30"), a_schedule("late", "02:30", "04:15", minimum=2))
    for minute in range(0, 12 * 60, 7):
        moment = at(f"{day}T00:00") + 60.0 * minute
        bounds = table.at(moment)
        assert bounds.until is not None
        assert table.at(bounds.until - 1).schedule == bounds.schedule
        assert table.at(bounds.until).schedule == bounds.following
