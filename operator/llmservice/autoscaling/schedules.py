"""Which bounds hold at a moment, and when others follow.

Times of the day become moments as RFC 5545 (3.3.5) has it for calendars: a time that comes twice, because the clock
goes back, is its first; one that never comes, because the clock goes forward, is as many minutes after the change. So a
schedule begins and ends once, whatever the clock does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from llmservice.planning.scaling_plan import ScalingPlan, Schedule

_DAY = timedelta(days=1)
_AHEAD = 8 * _DAY
"""A week and a day: what begins once a week is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What holds from a moment on, by the `schedule` of this name (empty: none).

    `until` is when others follow, in seconds since 1970, and `following` the name of what sets them; None where nothing
    follows within a week.
    """

    minimum: int
    maximum: int
    schedule: str = ""
    until: float | None = None
    following: str = ""


@dataclass(frozen=True, slots=True)
class _Span:
    """One time that a schedule holds: from `begin` until before `end`, in seconds since 1970. `rank` is its place."""

    rank: int
    begin: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timetable:
    """Bounds, and the schedules that set others; of several that hold the first counts."""

    minimum: int
    maximum: int
    schedules: tuple[Schedule, ...] = ()

    def at(self, now: float) -> Bounds:
        """What holds at `now` (seconds since 1970), until when, and what follows."""
        spans = [span for rank, each in enumerate(self.schedules) for span in _spans(rank, each, now)]
        held = _rank_at(spans, now)
        edges = {edge for span in spans for edge in (span.begin, span.end)}
        for moment in sorted(edge for edge in edges if now < edge < now + _AHEAD.total_seconds()):
            if (rank := _rank_at(spans, moment)) != held:
                return self._bounds(held, moment, self.schedules[rank].name if rank is not None else "")
        return self._bounds(held)

    def _bounds(self, rank: int | None, until: float | None = None, following: str = "") -> Bounds:
        held = None if rank is None else self.schedules[rank]
        if held is None:
            return Bounds(minimum=self.minimum, maximum=self.maximum, until=until, following=following)
        return Bounds(
            minimum=self.minimum if held.minimum is None else held.minimum,
            maximum=self.maximum if held.maximum is None else held.maximum,
            schedule=held.name,
            until=until,
            following=following,
        )


def bounds_at(scaling: ScalingPlan, now: float) -> Bounds:
    """The bounds of a plan at `now` (seconds since 1970)."""
    return Timetable(minimum=scaling.minimum, maximum=scaling.maximum, schedules=scaling.schedules).at(now)


def _spans(rank: int, schedule: Schedule, now: float) -> Iterator[_Span]:
    """Every time that a schedule holds from yesterday on: what began yesterday may hold still."""
    zone = ZoneInfo(schedule.time_zone)
    today = datetime.fromtimestamp(now, zone).date()
    length = _DAY if schedule.end <= schedule.start else timedelta()
    for ahead in range(-1, _AHEAD.days + 2):
        day = today + ahead * _DAY
        if day.weekday() in schedule.days:
            begin, end = _moment(day, schedule.start, zone), _moment(day + length, schedule.end, zone)
            yield _Span(rank, begin, end)


def _moment(day: date, minutes: int, zone: ZoneInfo) -> float:
    """A time of the day in seconds since 1970."""
    clock = datetime(day.year, day.month, day.day, tzinfo=zone) + timedelta(minutes=minutes)
    return clock.astimezone(UTC).timestamp()


def _rank_at(spans: list[_Span], moment: float) -> int | None:
    return min((span.rank for span in spans if span.begin <= moment < span.end), default=None)
