"""Series of what devices did and cost, read off the accounts when Prometheus asks; they end with the resource."""

from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from llmservice.accounting.usage import Kind
from llmservice.reconcilers.account import Account
from llmservice.reconcilers.accounts import Accounts

_LABELS = ["namespace", "name"]
_KIND = ["accelerator", "resource"]


@dataclass(slots=True, eq=False)
class CostSeries(Collector):
    """What the leader counted since it leads, and the prices; a replica that does not lead has the prices alone."""

    accounts: Accounts

    def collect(self) -> Iterator[Metric]:
        """All series as they are now. Called from another thread; the copy is one step for the GIL."""
        accounts = [*self.accounts.by_key.values()]
        yield _seconds(accounts)
        yield _costs(accounts)
        yield self._prices(accounts)

    def _prices(self, accounts: list[Account]) -> Metric:
        """Of every type by its own resource, and of what else is in use: of parts of devices, say."""
        catalogue, tariff = self.accounts.catalogue(), self.accounts.tariff
        rows = [catalogue.accelerators[name] for name in catalogue.prices.per_hour if name in catalogue.accelerators]
        kinds = {Kind(row.name, row.resource_name) for row in rows}
        kinds |= {kind for account in accounts for kind in account.ledger.devices}
        family = GaugeMetricFamily(
            "llmservice_device_price_per_hour",
            "Price of one device, from the catalogue; absent where none is set.",
            labels=[*_KIND, "currency"],
        )
        for kind in sorted(kinds):
            if tariff.currency and (price := tariff.price(kind)) is not None:
                family.add_metric([kind.accelerator, kind.resource, tariff.currency], price)
        return family


def _seconds(accounts: list[Account]) -> Metric:
    family = CounterMetricFamily(
        "llmservice_device_seconds",
        "Seconds for which pods held devices: busy, idle (ready, without a request), starting (not ready), or unknown.",
        labels=[*_LABELS, *_KIND, "state"],
    )
    for account in accounts:
        for (kind, state), seconds in sorted(account.ledger.totals.items()):
            family.add_metric([*account.key, kind.accelerator, kind.resource, state.value], seconds)
    return family


def _costs(accounts: list[Account]) -> Metric:
    family = CounterMetricFamily(
        "llmservice_cost", "What those devices cost, by the prices of the time.", labels=[*_LABELS, "currency"]
    )
    for account in accounts:
        for currency, cost in sorted(account.costs.items()):
            family.add_metric([*account.key, currency], cost)
    return family
