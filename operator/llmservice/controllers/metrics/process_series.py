"""Series of the process, computed at each scrape: its loop, its watches and the leader election."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from llmservice.cluster.watching.informer import Informer
from llmservice.controllers.endpoints.health import LoopPulse


class Leadership(Protocol):
    """`Election`."""

    def is_leader(self) -> bool:
        """Whether this process may write now."""
        ...


class SupervisedWatch(Protocol):
    """`KopfWatch`."""

    restarts: int
    watching: bool


@dataclass(slots=True, eq=False, kw_only=True)
class ProcessSeries(Collector):
    """The loop, the watches, and leadership. `leadership` None: this process is the only one and needs no election."""

    informers: tuple[Informer, ...]
    kopf: SupervisedWatch
    loop: LoopPulse
    lease: str = ""
    leadership: Leadership | None = None

    def collect(self) -> Iterator[Metric]:
        """All series as they are now."""
        lag = self.loop.lag_seconds()
        yield GaugeMetricFamily("llmservice_event_loop_lag_seconds", "How late the event loop is.", value=lag)
        yield self._heard()
        yield self._restarts()
        if self.leadership is not None:
            leads = GaugeMetricFamily("leader_election_master_status", "1 for the leader.", labels=["name"])
            leads.add_metric([self.lease], float(self.leadership.is_leader()))
            yield leads

    def _heard(self) -> Metric:
        family = GaugeMetricFamily(
            "llmservice_watch_last_event_timestamp_seconds", "Last list, event or bookmark.", labels=["resource"]
        )
        ahead = time.time() - time.monotonic()
        for kind in _kinds(self.informers):
            heard = min(item.last_heard for item in self.informers if item.selection.kind == kind)
            family.add_metric([kind], ahead + heard)
        return family

    def _restarts(self) -> Metric:
        family = CounterMetricFamily("llmservice_watch_restarts", "Watches ended.", labels=["resource", "cause"])
        family.add_metric(["LLMService", "kopf"], self.kopf.restarts)
        for kind in _kinds(self.informers):
            causes: Counter[str] = Counter()
            for informer in self.informers:
                if informer.selection.kind == kind:
                    causes.update(informer.restarts.copy())
            for cause, count in sorted(causes.items()):
                family.add_metric([kind, cause], count)
        return family


def _kinds(informers: Iterable[Informer]) -> list[str]:
    return sorted({informer.selection.kind for informer in informers})
