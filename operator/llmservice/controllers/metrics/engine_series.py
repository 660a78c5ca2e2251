"""Series of the watch over engines, read off what it remembers when Prometheus asks; they end with the resource."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from llmservice.reconcilers.stall_states import StallState

_LABELS = ["namespace", "name"]


@dataclass(slots=True, eq=False)
class EngineSeries(Collector):
    """What the leader counted since it leads; a replica that does not lead has no series. `states` are by UID."""

    states: Mapping[str, StallState]

    def collect(self) -> Iterator[Metric]:
        """All series as they are now. Called from another thread; the copy is one step for the GIL."""
        stalls = CounterMetricFamily(
            "llmservice_engine_stalls", "Engines found hanging: requests run, and no token comes.", labels=_LABELS
        )
        restarts = CounterMetricFamily(
            "llmservice_engine_restarts", "Replicas restarted because their engine hung.", labels=_LABELS
        )
        for state in [*self.states.values()]:
            stalls.add_metric(state.key, state.stalls_found)
            restarts.add_metric(state.key, state.restarts)
        yield from (stalls, restarts)
