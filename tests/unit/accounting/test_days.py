"""Days of a time zone: 23, 24 or 25 hours, and nothing between two of them is lost."""

from datetime import date, datetime
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmservice.accounting.days import begin_of, day_at, day_before, parts_by_day
from tests.unit.accounting.services import BERLIN, NOON, UTC

HOUR = 3600.0
ZONES = sorted(available_timezones())


def at(text: str, zone: ZoneInfo = BERLIN) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


@pytest.mark.parametrize(
    ("day", "hours"),
    [("2026-03-28", 24), ("2026-03-29", 23), ("2026-10-25", 25), ("2026-10-26", 24)],
)
def test_a_day_is_as_long_as_the_clock_makes_it(day: str, hours: int) -> None:
    begin = at(f"{day}T00:00")
    parts = dict(parts_by_day(begin - 1, begin + 30 * HOUR, BERLIN))
    assert parts[date.fromisoformat(day)] == hours * HOUR


def test_a_day_without_a_midnight_begins_at_its_first_moment() -> None:
    beirut = ZoneInfo("Asia/Beirut")
    begin = begin_of(date(2026, 3, 29), beirut)
    assert datetime.fromtimestamp(begin, beirut).isoformat() == "2026-03-29T01:00:00+03:00"
    assert day_at(begin - 1, beirut) == date(2026, 3, 28)


def test_the_day_is_that_of_the_zone() -> None:
    moment = at("2026-03-10T00:30")
    assert (day_at(moment, BERLIN), day_at(moment, UTC)) == (date(2026, 3, 10), date(2026, 3, 9))
    assert day_before(date(2026, 3, 1)) == date(2026, 2, 28)


@given(
    zone=st.sampled_from(ZONES),
    begin=st.floats(0, 2e9),
    length=st.floats(-1e4, 4e5),
)
def test_the_parts_of_a_length_add_up_to_it(zone: str, begin: float, length: float) -> None:
    parts = [*parts_by_day(begin, begin + length, ZoneInfo(zone))]
    assert sum(part for _, part in parts) == pytest.approx(max(0.0, length), abs=1e-3)
    assert all(part > 0 for _, part in parts)
    assert len(parts) <= 7


def test_no_time_has_no_parts() -> None:
    assert [*parts_by_day(NOON, NOON, UTC)] == []
