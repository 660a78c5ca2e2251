"""Days of a time zone, and how a length of time divides into them."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)


def day_at(moment: float, zone: ZoneInfo) -> date:
    """The day of a moment in seconds since 1970."""
    return datetime.fromtimestamp(moment, zone).date()


def begin_of(day: date, zone: ZoneInfo) -> float:
    """When a day begins, in seconds since 1970.

    At midnight; where the clock goes forward over it, at the first moment after. One that comes twice is its first.
    """
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC).timestamp()


def day_before(day: date) -> date:
    """Yesterday."""
    return day - _DAY


def parts_by_day(begin: float, end: float, zone: ZoneInfo) -> Iterator[tuple[date, float]]:
    """The days between two moments, and the seconds in each; nothing where the end does not lie after the begin."""
    while begin < end:
        day = day_at(begin, zone)
        until = min(end, max(begin_of(day + _DAY, zone), begin + 1.0))
        yield day, until - begin
        begin = until
