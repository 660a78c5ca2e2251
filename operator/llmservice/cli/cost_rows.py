"""What the status of an LLMService says of cost, as plain values: of today until now, or of yesterday."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from llmservice.accounting.told import Told, told_in
from llmservice.objects.references import Manifest

_PARTS = ("busy", "idle", "starting", "unknown")
"""What devices that are held do; the newest minutes of today are held, and not yet told apart."""
_STATES = (*_PARTS, "asleep")
_AMOUNTS = ("perHour", "spent", "idle", "zeroWouldSave")
_DIGITS = 4


def cost_of(service: Manifest, day: str, now: datetime) -> dict[str, Any]:
    """One service on `today` or `yesterday`: amounts in `currency`, None where nothing has a price."""
    told = told_in((service.get("status") or {}).get("cost"), day, now.timestamp())
    amounts = zip(_AMOUNTS, (told.per_hour, told.spent, told.idle, told.saved), strict=True)
    return {
        "namespace": service["metadata"].get("namespace", ""),
        "name": service["metadata"]["name"],
        "day": told.day,
        "devices": told.devices,
        "currency": told.currency,
        **{name: None if value is None else round(value, _DIGITS) for name, value in amounts},
        "idleSharePercent": told.idle_share,
        "unpriced": list(told.unpriced),
        "deviceHours": _hours(told),
        "countedUntil": told.counted_until,
    }


def in_order(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those first that waste most: by what was idle in money, then in device-hours."""

    def waste(row: Mapping[str, Any]) -> tuple[float, float, str, str]:
        return -(row["idle"] or 0.0), -row["deviceHours"]["idle"], row["namespace"], row["name"]

    return sorted(rows, key=waste)


def totals(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The sums: one for each currency, and one of what has none."""
    found = list(rows)
    currencies = sorted({row["currency"] for row in found})
    return [_total([row for row in found if row["currency"] == currency], currency) for currency in currencies]


def _total(rows: list[Mapping[str, Any]], currency: str) -> dict[str, Any]:
    hours = {state: round(sum(row["deviceHours"][state] for row in rows), _DIGITS) for state in ("held", *_STATES)}
    told = sum(hours[state] for state in _PARTS)
    return {
        "currency": currency,
        "devices": sum(row["devices"] for row in rows),
        **{name: _sum(row[name] for row in rows) for name in _AMOUNTS},
        "idleSharePercent": round(100 * hours["idle"] / told) if told else None,
        "deviceHours": hours,
    }


def _hours(told: Told) -> dict[str, float]:
    seconds = {"held": told.held, **{name: getattr(told.usage, name) for name in _STATES}}
    return {name: round(max(0.0, value) / 3600, _DIGITS) for name, value in seconds.items()}


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return round(sum(known), _DIGITS) if known else None
