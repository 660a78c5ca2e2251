"""`spec.autoscaling.schedules` in minutes of the day; refuses time zones that nobody knows."""

from collections.abc import Sequence
from typing import get_args
from zoneinfo import ZoneInfo, available_timezones

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.schedules import Day
from llmservice.api.v1alpha1.schedules import Schedule as Asked
from llmservice.catalog.catalogue import nearest
from llmservice.errors import InvalidSpec
from llmservice.planning.scaling_plan import Schedule

DAYS: tuple[str, ...] = get_args(Day)
_EVERY_DAY = frozenset(range(len(DAYS)))


def choose_schedules(asked: Sequence[Asked]) -> tuple[Schedule, ...]:
    """Those of the resource, in their order; raises InvalidSpec for a time zone that is not in the IANA database."""
    return tuple(_schedule(number, each) for number, each in enumerate(asked))


def _schedule(number: int, asked: Asked) -> Schedule:
    _check_zone(asked.time_zone, f"spec.autoscaling.schedules[{number}].timeZone")
    return Schedule(
        name=asked.name,
        days=frozenset(map(DAYS.index, asked.days)) or _EVERY_DAY,
        start=_minutes(asked.start),
        end=_minutes(asked.end),
        time_zone=asked.time_zone,
        minimum=asked.min_replicas,
        maximum=asked.max_replicas,
    )


def _minutes(time: str) -> int:
    hours, minutes = time.split(":")
    return int(hours) * 60 + int(minutes)


def _check_zone(name: str, field: str) -> None:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, no name of a file, or a folder of the database
        near = nearest(name, available_timezones())
        meant = f"did you mean {' or '.join(near)}?" if near else "write one such as Europe/Berlin"
        message = f"{name} is not a time zone of the IANA database; {meant}"
        raise InvalidSpec(Reason.INVALID_SPEC, message, field=field) from None
