"""The account of one service in this process: its ledger, and what the status says of it."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llmservice.accounting.ledger import Ledger
from llmservice.accounting.pods import Reading
from llmservice.accounting.statement import Tariff, ledger_after, statement
from llmservice.accounting.usage import Kind
from llmservice.catalog.catalogue import Catalogue
from llmservice.objects.references import Manifest, uid_of
from llmservice.reconcilers.workers import ServiceKey

_TOLD_EVERY_SECONDS = 600
_NEWS_AFTER_SECONDS = 60
"""Another number of devices is told sooner."""


@dataclass(slots=True, kw_only=True)
class Account:
    """One service. Only the operator's loop writes; other threads read `key`, `ledger` and `costs`.

    `readings` are those that no look has used yet, by UID of the pod. `told` is what the status says, since `told_at`;
    it is told again at `due_at`. `costs` is what was spent since this process leads, by currency.
    """

    key: ServiceKey
    uid: str
    ledger: Ledger
    told: dict[str, Any]
    told_at: float
    due_at: float
    readings: dict[str, Reading] = field(default_factory=dict)
    costs: Mapping[str, float] = field(default_factory=dict)

    def book(self, ledger: Ledger, tariff: Tariff) -> None:
        """Take this ledger from now on, and add to the cost what it counted beyond the one before."""
        added: dict[Kind, float] = {}
        for (kind, state), seconds in ledger.totals.items():
            added[kind] = added.get(kind, 0.0) + seconds - self.ledger.totals.get((kind, state), 0.0)
        cost = tariff.cost(added) if tariff.currency else None
        if cost is not None:
            self.costs = {**self.costs, tariff.currency: self.costs.get(tariff.currency, 0.0) + cost}
        self.ledger = ledger

    def is_due(self, now: float) -> bool:
        """Whether the status is to be written for the cost alone, if it is another."""
        devices = sum(self.ledger.devices.values())
        is_news = devices != self.told.get("devices", 0) and now - self.told_at >= _NEWS_AFTER_SECONDS
        return is_news or now >= self.due_at

    def statement(self, tariff: Tariff, now: float) -> dict[str, Any]:
        """`status.cost` as it would be told now; what was told before where only the time is another."""
        found = statement(self.ledger, tariff, now)
        return self.told if _timeless(found) == _timeless(self.told) else found

    def tell(self, tariff: Tariff, now: float) -> dict[str, Any]:
        """The statement, which the status says from now on."""
        self.told = self.statement(tariff, now)
        self.told_at, self.due_at = now, now + _TOLD_EVERY_SECONDS
        return self.told


def opened(key: ServiceKey, body: Manifest, now: float) -> Account:
    """The account of a resource, going on from its status.

    Services that are found at the same time are told of at different ones.
    """
    said, uid = cost_in(body), uid_of(body)
    ledger = ledger_after(said, now)
    told_at = min(ledger.last_look, now)
    due_at = max(told_at + _TOLD_EVERY_SECONDS, now + zlib.crc32(uid.encode()) % _TOLD_EVERY_SECONDS)
    return Account(key=key, uid=uid, ledger=ledger, told=said, told_at=told_at, due_at=due_at)


def cost_in(body: Manifest) -> dict[str, Any]:
    """`status.cost`; empty where there is none."""
    said = (body.get("status") or {}).get("cost")
    return said if isinstance(said, dict) else {}


def tariff_of(catalogue: Catalogue) -> Tariff:
    """The prices of a catalogue."""
    prices = catalogue.prices
    return Tariff(
        price=lambda kind: catalogue.price_per_hour(kind.accelerator, kind.resource),
        currency=prices.currency if prices.per_hour else "",
        time_zone=prices.time_zone,
    )


def _timeless(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if name != "countedUntil"}
