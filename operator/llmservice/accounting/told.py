"""What a `status.cost` says of one day, for those who read statuses: today until now, or yesterday."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from llmservice.accounting.days import begin_of, day_at, day_before
from llmservice.accounting.statement import days_in, moment_of
from llmservice.accounting.usage import Day, Kind, Usage

_HOUR = 3600.0
_FRESH_SECONDS = 1200.0
"""A statement that is older is not counted on from: whoever counts may be away."""
_LARGEST = 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One service on one day. Amounts are None where there is no price; `held` are device-seconds, `usage` their parts.

    `devices` are those held when it was counted, at `counted_until`. What is counted on from there to now is in `held`
    and `spent` alone: what it was used for is not known yet.
    """

    day: str
    devices: int = 0
    currency: str = ""
    per_hour: float | None = None
    spent: float | None = None
    idle: float | None = None
    saved: float | None = None
    held: float = 0.0
    usage: Usage = field(default_factory=Usage)
    unpriced: tuple[str, ...] = ()
    counted_until: str = ""

    @property
    def idle_share(self) -> int | None:
        """Percent of what was counted."""
        return round(100 * self.usage.idle / self.usage.held) if self.usage.held else None


def told_in(said: Any, day: str, now: float) -> Told:
    """What a `status.cost` says of `today` or `yesterday` at `now` (seconds since 1970).

    Anybody who may write the status may have written it: what cannot be read says nothing.
    """
    said = said if isinstance(said, Mapping) else {}
    zone = _zone(said.get("timeZone"))
    today = day_at(now, zone)
    date = today if day == "today" else day_before(today)
    kinds = days_in(said).get(date, {})
    usage = _sum(kinds)
    devices = _number(said.get("devices"))
    gap = _uncounted(said, begin_of(today, zone), now) if day == "today" else 0.0
    per_hour = _amount(said.get("perHour"))
    prices = _prices(said)
    spent = _cost(kinds, prices, lambda each: each.held)
    if gap and per_hour is not None:
        spent = (spent or 0.0) + per_hour * gap / _HOUR
    return Told(
        day=date.isoformat(),
        devices=round(devices),
        currency=str(said.get("currency") or "")[:3],
        per_hour=per_hour,
        spent=spent,
        idle=_cost(kinds, prices, lambda each: each.idle),
        saved=_cost(kinds, prices, lambda each: max(0.0, each.asleep)),
        held=usage.held + devices * gap,
        usage=usage,
        unpriced=tuple(sorted({kind.shown for kind in kinds if kind not in prices})),
        counted_until=str(said.get("countedUntil") or "")[:64],
    )


def _uncounted(said: Mapping[str, Any], midnight: float, now: float) -> float:
    """Seconds of today since it was counted last."""
    until = moment_of(said.get("countedUntil"))
    return max(0.0, now - max(until, midnight)) if now - until <= _FRESH_SECONDS else 0.0


def _sum(kinds: Day) -> Usage:
    parts = ("busy", "idle", "starting", "unknown", "asleep")
    return Usage(**{name: sum(getattr(usage, name) for usage in kinds.values()) for name in parts})


def _cost(kinds: Day, prices: Mapping[Kind, float], part: Callable[[Usage], float]) -> float | None:
    priced = [kind for kind in kinds if kind in prices]
    return sum(part(kinds[kind]) / _HOUR * prices[kind] for kind in priced) if priced else None


def _prices(said: Mapping[str, Any]) -> Mapping[Kind, float]:
    """By kind of device, of whichever day names one."""
    days = said.get("days")
    rows = [
        row
        for day in (days[:2] if isinstance(days, list) else ())
        if isinstance(day, Mapping) and isinstance(day.get("devices"), list)
        for row in day["devices"]
        if isinstance(row, Mapping)
    ]
    found = {(str(row.get("accelerator") or ""), str(row.get("resource") or "")): row for row in rows}
    priced = {Kind(*names): _amount(row.get("perHour")) for names, row in found.items()}
    return {kind: price for kind, price in priced.items() if price is not None}


def _amount(value: Any) -> float | None:
    try:
        found = float(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found if found is not None and 0.0 <= found < _LARGEST else None


def _number(value: Any) -> float:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return float(min(max(value, 0), 2**31 - 1)) if is_number else 0.0


def _zone(name: Any) -> ZoneInfo:
    try:
        return ZoneInfo(name) if isinstance(name, str) and name else ZoneInfo("UTC")
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")
