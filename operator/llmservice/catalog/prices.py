"""What devices cost per hour: the table `prices` of accelerators.yaml. None is shipped.

A price takes part in no plan: it changes no pod, and is not kept with the facts of a generation.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any
from zoneinfo import ZoneInfo

from llmservice.catalog.checks import is_resource_name
from llmservice.catalog.rows import ACCELERATORS_FILE, typed
from llmservice.errors import InvalidCatalogue
from llmservice.untrusted.patterns import compiled

_WHERE = f"{ACCELERATORS_FILE}: prices"
_CURRENCY = compiled(r"[A-Z]{3}")
_MOST = 1_000_000.0
"""More than a device costs per hour in any currency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a device costs per hour, in a `currency` (ISO 4217), and where a day begins.

    `per_hour` is by the name of a row, an alias or a group of accelerators, or by a resource, such as
    `nvidia.com/mig-1g.10gb`. Without any price `currency` may be empty. `time_zone` is one of the IANA's.
    """

    currency: str = ""
    per_hour: Mapping[str, float] = field(default_factory=dict)
    time_zone: str = "UTC"

    def of(self, accelerator: str, resource: str, *, whole: bool) -> float | None:
        """The price of one device; None where it has none.

        Both names may be empty. The price of a resource comes first. That of a type is for a `whole` device: a part of
        one, or one that others use too, has a price only by its own resource.
        """
        price = self.per_hour.get(resource)
        return self.per_hour.get(accelerator) if price is None and whole else price


def prices_from(raw: Any, names: Collection[str], aliases: Mapping[str, str]) -> Prices:
    """The table as YAML gives it; raises InvalidCatalogue naming the field.

    `names` are those by which devices can be asked for, `aliases` maps further ones to the name of their row.
    """
    prices = typed(Prices, raw, _WHERE)
    if prices.per_hour and not prices.currency:
        raise InvalidCatalogue(_WHERE, "currency is missing; write its code of three letters, such as EUR")
    if prices.currency and not _CURRENCY.matches(prices.currency):
        message = f"currency: {prices.currency!r} is not the code of a currency; write three capitals, such as EUR"
        raise InvalidCatalogue(_WHERE, message)
    _check_time_zone(prices.time_zone)
    per_hour: dict[str, float] = {}
    for name, price in prices.per_hour.items():
        row = aliases.get(name, name)
        _check(name, price, row, names)
        if row in per_hour:
            raise InvalidCatalogue(_WHERE, f"per_hour: {name} has a price already, as {row}; leave one of them")
        per_hour[row] = price
    return Prices(currency=prices.currency, per_hour=per_hour, time_zone=prices.time_zone)


def _check(name: str, price: float, row: str, names: Collection[str]) -> None:
    if not 0.0 <= price <= _MOST:
        message = f"per_hour: {name}: {price} is not a price; write what one device costs per hour, 0 to {_MOST:.0f}"
        raise InvalidCatalogue(_WHERE, message)
    if row not in names and not is_resource_name(name):
        near = get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f" (similar: {', '.join(near)})" if near else ""
        message = f"per_hour: {name} is no accelerator of the catalogue{hint}; correct it, or name a device's resource"
        raise InvalidCatalogue(_WHERE, message)


def _check_time_zone(name: str) -> None:
    """The one place that a zone is looked up at: whoever gets `Prices` may rely on it."""
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        message = f"time_zone: {name!r} is not a time zone; write one of the IANA's, such as Europe/Berlin"
        raise InvalidCatalogue(_WHERE, message) from None
