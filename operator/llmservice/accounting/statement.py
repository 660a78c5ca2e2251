"""`status.cost`: what a ledger says, in seconds and in currency; and how far a ledger had come, from what it said."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from llmservice.accounting.days import day_at, day_before
from llmservice.accounting.ledger import Ledger
from llmservice.accounting.money import amount, rate
from llmservice.accounting.usage import Day, Days, Kind, Usage

_HOUR = 3600.0
_FIELDS = {name: f"{name}Seconds" for name in ("busy", "idle", "starting", "unknown", "asleep")}
_MOST_KINDS = 8
"""Of a day: more types on one day are those of somebody who tries all."""
_MOST_SECONDS = 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """What a device of a kind costs per hour (None: no price is set), in a currency, and whose days are counted."""

    price: Callable[[Kind], float | None]
    currency: str = ""
    time_zone: str = "UTC"

    @property
    def zone(self) -> ZoneInfo:
        """The time zone that days are of."""
        return ZoneInfo(self.time_zone)

    def cost(self, device_seconds: Mapping[Kind, float]) -> float | None:
        """What these cost; None where none of them has a price."""
        found = {kind: price for kind in device_seconds if (price := self.price(kind)) is not None}
        return sum(device_seconds[kind] / _HOUR * price for kind, price in found.items()) if found else None


def statement(ledger: Ledger, tariff: Tariff, now: float) -> dict[str, Any]:
    """`status.cost` at `now` (seconds since 1970); empty where nothing was held, today or yesterday."""
    today = day_at(now, tariff.zone)
    days = {day: ledger.days.get(day, {}) for day in (today, day_before(today))}
    if not any(days.values()) and not ledger.devices:
        return {}
    fields = {
        "devices": sum(ledger.devices.values()),
        **(_in_currency(ledger, tariff, *days.values()) if tariff.currency else {}),
        "idleSharePercent": _idle_share(days[today]),
        "timeZone": None if tariff.time_zone == "UTC" else tariff.time_zone,
        "countedUntil": datetime.fromtimestamp(ledger.counted_until(now), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "days": [_day(day, kinds, tariff) for day, kinds in days.items() if kinds],
    }
    return {name: value for name, value in fields.items() if value is not None}


def _in_currency(ledger: Ledger, tariff: Tariff, today: Day, yesterday: Day) -> dict[str, Any]:
    per_hour = tariff.cost({kind: devices * _HOUR for kind, devices in ledger.devices.items()})
    kinds = {*ledger.devices, *today, *yesterday}
    return {
        "currency": tariff.currency,
        "perHour": None if per_hour is None else rate(per_hour),
        "today": _cost(tariff, today, lambda usage: usage.held),
        "yesterday": _cost(tariff, yesterday, lambda usage: usage.held),
        "idle": _cost(tariff, today, lambda usage: usage.idle),
        "zeroWouldSave": _cost(tariff, today, lambda usage: usage.asleep),
        "unpriced": sorted({kind.shown for kind in kinds if tariff.price(kind) is None})[:_MOST_KINDS] or None,
    }


def _cost(tariff: Tariff, day: Day, part: Callable[[Usage], float]) -> str | None:
    cost = tariff.cost({kind: part(usage) for kind, usage in day.items()})
    return None if cost is None else amount(max(0.0, cost))


def _idle_share(day: Day) -> int | None:
    held = sum(usage.held for usage in day.values())
    return round(100 * sum(usage.idle for usage in day.values()) / held) if held >= 1.0 else None


def _day(day: date, kinds: Day, tariff: Tariff) -> dict[str, Any]:
    used = sorted(kinds.items(), key=lambda item: -item[1].held)[:_MOST_KINDS]
    return {
        "date": day.isoformat(),
        "devices": [_usage(kind, kinds[kind], tariff) for kind in sorted(kind for kind, _ in used)],
    }


def _usage(kind: Kind, usage: Usage, tariff: Tariff) -> dict[str, Any]:
    price = tariff.price(kind) if tariff.currency else None
    seconds = {field: round(getattr(usage, name)) for name, field in _FIELDS.items()}
    priced = {} if price is None else {"perHour": rate(price)}
    return {"accelerator": kind.accelerator, "resource": kind.resource, **priced, **seconds}


def ledger_after(said: Any, began: float) -> Ledger:
    """The ledger of a process that begins at `began` and goes on from a `status.cost`.

    Anybody who may write the status may have written it: what is no statement counts as none.
    """
    said = said if isinstance(said, Mapping) else {}
    until = moment_of(said.get("countedUntil"))
    return Ledger(began=began, days=days_in(said) if until else {}, last_look=until)


def days_in(said: Mapping[str, Any]) -> Days:
    """The days of a statement; without what is no day."""
    entries = said.get("days")
    return dict(_days(entries[:2])) if isinstance(entries, list) else {}


def _days(entries: list[Any]) -> Iterator[tuple[date, Day]]:
    for entry in entries:
        devices = entry.get("devices") if isinstance(entry, Mapping) else None
        try:
            day = date.fromisoformat(str(entry["date"])) if isinstance(devices, list) else None
        except (KeyError, ValueError):
            continue
        if day is not None and devices is not None:
            rows = [item for item in devices[:_MOST_KINDS] if isinstance(item, Mapping)]
            yield day, {_kind(item): _usage_in(item) for item in rows}


def _kind(item: Mapping[str, Any]) -> Kind:
    return Kind(str(item.get("accelerator") or "")[:317], str(item.get("resource") or "")[:317])


def _usage_in(item: Mapping[str, Any]) -> Usage:
    seconds = {name: _seconds(item.get(field)) for name, field in _FIELDS.items()}
    return Usage(**{name: value if name == "asleep" else max(0.0, value) for name, value in seconds.items()})


def _seconds(value: Any) -> float:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < _MOST_SECONDS else 0.0


def moment_of(value: Any) -> float:
    """RFC 3339 in seconds since 1970; 0 for what is none."""
    try:
        return datetime.fromisoformat(value).astimezone(UTC).timestamp() if isinstance(value, str) else 0.0
    except (ValueError, OverflowError, OSError):
        return 0.0
