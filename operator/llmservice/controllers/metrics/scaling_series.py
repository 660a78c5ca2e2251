"""Series of the autoscaler, read off its last look when Prometheus asks; they end with the resource.

The engines' figures bear one name each here, whichever engine they come from.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from llmservice.reconcilers.scaling.evaluations import Evaluation, Evaluations
from llmservice.signals.source import Reading

_LABELS = ["namespace", "name"]


@dataclass(frozen=True, slots=True)
class _Figure:
    """One gauge: its name, its help, and how it is read off a look (None: not known)."""

    name: str
    documentation: str
    value: Callable[[Evaluation, float], float | None]


def _oldest(look: Evaluation, now: float) -> float | None:
    times = [outcome.at for outcome in look.readings.values() if isinstance(outcome, Reading)]
    return max(0.0, now - min(times)) if times else None


def _kv_use(look: Evaluation, _: float) -> float | None:
    used = [member.kv_use for member in look.snapshot.ready if member.kv_use is not None]
    return sum(used) / len(used) if used else None


_FIGURES = (
    _Figure(
        "llmservice_autoscale_desired_replicas",
        "Replicas decided last; absent in mode Advise.",
        lambda look, _: None if look.advise else look.decision.replicas,
    ),
    _Figure(
        "llmservice_autoscale_advised_replicas",
        "Replicas that mode Advise would run; absent otherwise.",
        lambda look, _: look.decision.replicas if look.advise else None,
    ),
    _Figure("llmservice_autoscale_reading_age_seconds", "Age of the oldest reading decided from.", _oldest),
    _Figure(
        "llmservice_queue_depth",
        "Requests waiting in the engines that were read.",
        lambda look, _: look.snapshot.waiting if look.snapshot.ready else None,
    ),
    _Figure(
        "llmservice_requests_running",
        "Requests being worked on in the engines that were read.",
        lambda look, _: look.snapshot.running if look.snapshot.ready else None,
    ),
    _Figure("llmservice_kv_cache_usage_ratio", "KV-cache use 0–1, mean of the replicas that report one.", _kv_use),
)


@dataclass(slots=True, eq=False)
class ScalingSeries(Collector):
    """What the leader knows; a replica that does not lead has no series. `clock` gives seconds since 1970."""

    looks: Evaluations
    clock: Callable[[], float] = time.time

    def collect(self) -> Iterator[Metric]:
        """All series as they are now. Called from another thread."""
        now, records = self.clock(), [*self.looks]
        for figure in _FIGURES:
            family = GaugeMetricFamily(figure.name, figure.documentation, labels=_LABELS)
            for record in records:
                if record.look is not None and (value := figure.value(record.look, now)) is not None:
                    family.add_metric(record.key, value)
            yield family
        decisions = CounterMetricFamily(
            "llmservice_autoscale_decisions", "Evaluations by reason.", labels=[*_LABELS, "reason"]
        )
        failures = CounterMetricFamily(
            "llmservice_autoscale_reads_failed", "Pods that could not be read, by cause.", labels=[*_LABELS, "reason"]
        )
        for record in records:
            for reason, count in sorted(record.decisions.copy().items()):
                decisions.add_metric([*record.key, reason], count)
            for cause, count in sorted(record.failures.copy().items()):
                failures.add_metric([*record.key, cause], count)
        yield from (decisions, failures)
