"""The page of the operator's metrics, from the instruments themselves."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prometheus_client.registry import Collector

from llmservice.catalog.loader import load_catalogue
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.controllers.endpoints.health import LoopPulse
from llmservice.controllers.metrics.activator_series import ActivatorSeries
from llmservice.controllers.metrics.cost_series import CostSeries
from llmservice.controllers.metrics.engine_series import EngineSeries
from llmservice.controllers.metrics.instruments import Metrics
from llmservice.controllers.metrics.measuring import MeasuredQueue
from llmservice.controllers.metrics.process_series import ProcessSeries
from llmservice.controllers.metrics.scaling_series import ScalingSeries
from llmservice.controllers.metrics.service_series import ServiceSeries
from llmservice.reconcilers.accounts import Accounts
from llmservice.reconcilers.scaling.service_states import ServiceStates

_HEAD = """\
# Metrics of the operator

Written from the code by `make docs`. `GET /metrics` on port 8443 of each replica (`LLMSERVICE_METRICS_PORT`), by HTTPS
and [for those who may](../how-to/read-metrics.md), in Prometheus' text format; names are controller-runtime's where it
has one, so that its dashboards work. However many ask, the figures are put together once a second at most, and with a
tenth of a core at most: with very many resources they are up to ten seconds old. A series of an LLMService ends with
it. Besides these: `process_*`, of the Prometheus client. Engines have metrics of their own, on port 8000 of their pods.

"""


class Family(NamedTuple):
    """A metric as Prometheus stores it; a histogram has `_bucket`, `_count` and `_sum` behind its name."""

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str


class _NoWatch:
    restarts = 0
    watching = True

    def is_leader(self) -> bool:
        return False


def families() -> list[Family]:
    """Every metric of a replica, by name."""
    metrics, watch = Metrics(), _NoWatch()
    MeasuredQueue(metrics)
    process = ProcessSeries(informers=(), kopf=watch, loop=LoopPulse(), leadership=watch)
    registered = metrics.registry._collector_to_names  # noqa: SLF001  (nothing else tells what is in a registry)
    accounts = Accounts(cache=ObjectCache(), catalogue=load_catalogue, clock=float)
    of_services = (ServiceSeries(), ScalingSeries(ServiceStates()), EngineSeries({}), CostSeries(accounts))
    others = (process, ActivatorSeries(None), *of_services)
    return sorted(_families([*registered, *others]))


def _families(collectors: Iterable[Collector]) -> Iterator[Family]:
    for collector in collectors:
        for metric in collector.collect():
            labels = getattr(metric, "_labelnames", ()) or getattr(collector, "_labelnames", ())
            name = f"{metric.name}_total" if metric.type == "counter" else metric.name
            yield Family(name, metric.type, tuple(labels), metric.documentation)


def metrics_page() -> str:
    """The page as Markdown."""
    rows = [
        f"| `{family.name}` | {family.kind} | {', '.join(family.labels)} | {family.meaning} |"
        for family in families()
        if not family.name.startswith("process_")
    ]
    return _HEAD + "\n".join(["| metric | type | labels | meaning |", "|---|---|---|---|", *rows]) + "\n"
