"""Series of what holds requests for services without a replica: how many activators are ready."""

from collections.abc import Callable, Collection, Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


class ActivatorSeries(Collector):
    """`ready` tells the activators that take requests; None where none is installed, which has no series."""

    def __init__(self, ready: Callable[[], Collection[object]] | None) -> None:
        self._ready = ready

    def collect(self) -> Iterator[Metric]:
        """The one family."""
        family = GaugeMetricFamily(
            "llmservice_activators_ready", "Activators that take requests of services without a replica.", labels=[]
        )
        if self._ready is not None:
            family.add_metric([], len(self._ready()))
        yield family
