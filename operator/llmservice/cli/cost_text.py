"""What `llmservice cost` prints for people: a line for each service and the sum, in money or in device-hours."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llmservice.accounting.money import amount, rate
from llmservice.cli.cost_rows import totals
from llmservice.cli.table import table, warning

_WIDE = ("BUSY FOR", "IDLE FOR", "STARTING FOR", "UNKNOWN FOR", "COUNTED UNTIL")
_MUCH = 50
"""Percent idle that is worth a look."""
_SET_PRICES = (
    "no prices are set: an administrator writes them into the catalogue, accelerators.yaml, table prices; "
    "see docs/how-to/cost.md"
)


def as_text(rows: Sequence[Mapping[str, Any]], day: str, *, wide: bool) -> str:
    """The table, the sums below it, and what they leave out."""
    used = [row for row in rows if row["devices"] or row["deviceHours"]["held"]]
    if not used:
        found = f"{len(rows)} LLMServices held devices" if rows else "no LLMServices"
        return f"{f'none of {found} {day}' if rows else found}\n"
    in_money = any(row["currency"] for row in used)
    head = _head(day, in_money=in_money, wide=wide)
    lines = [_line(row, in_money=in_money, wide=wide) for row in used]
    sums = [
        _line({**total, "namespace": "", "name": "total", "countedUntil": ""}, in_money=in_money, wide=wide)
        for total in totals(used)
    ]
    remarks = "".join(f"{remark}\n" for remark in _remarks(used, in_money=in_money))
    return "".join(f"{line}\n" for line in table([head, *lines, *sums])) + remarks


def _head(day: str, *, in_money: bool, wide: bool) -> tuple[str, ...]:
    spent = day.upper() if in_money else "DEVICE-HOURS"
    money = ("PER HOUR", spent, "IDLE COST") if in_money else (spent,)
    return ("NAMESPACE", "NAME", "DEVICES", *money, "IDLE", "ZERO SAVES", *(_WIDE if wide else ()))


def _line(row: Mapping[str, Any], *, in_money: bool, wide: bool) -> tuple[object, ...]:
    hours, share, currency = row["deviceHours"], row["idleSharePercent"], row["currency"]
    idle = "" if share is None else warning(f"{share} %") if share >= _MUCH else f"{share} %"
    if in_money:
        per_hour = "" if row["perHour"] is None else f"{rate(row['perHour'])} {currency}"
        parts = (per_hour, *(_money(row[name], currency) for name in ("spent", "idle")))
        saved = _money(row["zeroWouldSave"], currency)
    else:
        parts, saved = (_hours(hours["held"]),), _hours(hours["asleep"])
    further = (*(_hours(hours[state]) for state in ("busy", "idle", "starting", "unknown")), row["countedUntil"])
    return (row["namespace"], row["name"], str(row["devices"]), *parts, idle, saved, *(further if wide else ()))


def _remarks(rows: Sequence[Mapping[str, Any]], *, in_money: bool) -> Iterator[str]:
    if not in_money:
        yield f"\n{_SET_PRICES}"
        return
    unpriced = sorted({kind for row in rows for kind in row["unpriced"]})
    if unpriced:
        yield f"\nleft out, because no price is set: {', '.join(unpriced)}"


def _money(value: float | None, currency: str) -> str:
    return "" if value is None else f"{amount(value)} {currency}"


def _hours(value: float) -> str:
    return f"{value:.2f} h"
