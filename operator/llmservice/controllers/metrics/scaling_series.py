"""Series of the autoscaler, read off its last evaluations when Prometheus asks; they end with the resource.

The engines' figures bear one name each here, whichever engine they come from.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from llmservice.controllers.metrics.resting_series import resting_series
from llmservice.converging.pod_readings import Reading
from llmservice.reconcilers.scaling.evaluation import Evaluation
from llmservice.reconcilers.scaling.service_state import ServiceState
from llmservice.reconcilers.scaling.service_states import ServiceStates

_LABELS = ["namespace", "name"]
_FIRST_TOKEN, _FURTHER_TOKENS = "ttft", "tpot"
"""The two latencies of an objective, as the catalogue calls them."""


@dataclass(frozen=True, slots=True)
class _Figure:
    """One gauge: its name, its help, and how it is read off an evaluation (None: not known)."""

    name: str
    documentation: str
    value: Callable[[Evaluation, float], float | None]


def _oldest(evaluation: Evaluation, now: float) -> float | None:
    times = [outcome.at for outcome in evaluation.readings.values() if isinstance(outcome, Reading)]
    return max(0.0, now - min(times)) if times else None


def _kv_use(evaluation: Evaluation, _: float) -> float | None:
    used = evaluation.snapshot.kv_uses
    return sum(used) / len(used) if used else None


_FIGURES = (
    _Figure(
        "llmservice_autoscale_desired_replicas",
        "Replicas decided last; absent in mode Advise.",
        lambda evaluation, _: None if evaluation.advise else evaluation.decision.replicas,
    ),
    _Figure(
        "llmservice_autoscale_advised_replicas",
        "Replicas that mode Advise would run; absent otherwise.",
        lambda evaluation, _: evaluation.decision.replicas if evaluation.advise else None,
    ),
    _Figure("llmservice_autoscale_reading_age_seconds", "Age of the oldest reading decided from.", _oldest),
    _Figure(
        "llmservice_requests_waiting",
        "Requests waiting in the engines that were read.",
        lambda evaluation, _: evaluation.snapshot.waiting if evaluation.snapshot.ready else None,
    ),
    _Figure(
        "llmservice_requests_running",
        "Requests being worked on in the engines that were read.",
        lambda evaluation, _: evaluation.snapshot.running if evaluation.snapshot.ready else None,
    ),
    _Figure("llmservice_kv_cache_usage_ratio", "KV-cache use 0–1, mean of the replicas that report one.", _kv_use),
)


@dataclass(slots=True, eq=False)
class ScalingSeries(Collector):
    """What the leader knows; a replica that does not lead has no series. `clock` gives seconds since 1970."""

    states: ServiceStates
    clock: Callable[[], float] = time.time

    def collect(self) -> Iterator[Metric]:
        """All series as they are now. Called from another thread."""
        now, states = self.clock(), [*self.states]
        for figure in _FIGURES:
            family = GaugeMetricFamily(figure.name, figure.documentation, labels=_LABELS)
            for state in states:
                evaluation = state.evaluation
                if evaluation is not None and (value := figure.value(evaluation, now)) is not None:
                    family.add_metric(state.key, value)
            yield family
        yield from _decided(states)
        yield from _objectives(states)
        yield from resting_series(states)


def _decided(states: Iterable[ServiceState]) -> Iterator[Metric]:
    """Decisions and readings, counted by reason, and the reason of now."""
    reasoned = [*_LABELS, "reason"]
    decisions = CounterMetricFamily("llmservice_autoscale_decisions", "Decisions by reason.", labels=reasoned)
    failures = CounterMetricFamily(
        "llmservice_autoscale_read_failures", "Failed readings of a pod, by reason.", labels=reasoned
    )
    current = GaugeMetricFamily("llmservice_autoscale_reason", "Why the last decision; always 1.", labels=reasoned)
    truncated = CounterMetricFamily(
        "llmservice_requests_truncated",
        "Requests that ended with their engine, by the last reading before; absent where no engine could be read.",
        labels=_LABELS,
    )
    for state in states:
        if state.truncated is not None:
            truncated.add_metric(state.key, state.truncated)
        if (evaluation := state.evaluation) is not None:
            current.add_metric([*state.key, evaluation.decision.reason], 1)
        for reason, count in sorted(state.decisions.items()):
            decisions.add_metric([*state.key, reason], count)
        for failure, count in sorted(state.read_failures.items()):
            failures.add_metric([*state.key, failure], count)
    yield from (decisions, failures, current, truncated)


def _objectives(states: Iterable[ServiceState]) -> Iterator[Metric]:
    """The objective of each service, and the requests that were held against it."""
    labels = [*_LABELS, "objective"]
    wanted = GaugeMetricFamily(
        "llmservice_objective_seconds",
        "Latency to keep: ttft until the first token, tpot for each further one.",
        labels=labels,
    )
    held = CounterMetricFamily(
        "llmservice_objective_requests",
        "Requests whose latency the engine reported; absent where it reports none.",
        labels=labels,
    )
    over = CounterMetricFamily(
        "llmservice_objective_violations", "Those of them that took longer than the objective.", labels=labels
    )
    for state in states:
        counts = state.objective
        if (evaluation := state.evaluation) is not None:
            wanted.add_metric([*state.key, _FIRST_TOKEN], evaluation.policy.objective.ttft_seconds)
            wanted.add_metric([*state.key, _FURTHER_TOKENS], evaluation.policy.objective.tpot_seconds)
        for name, requests, late in (
            (_FIRST_TOKEN, counts.first_tokens, counts.late_first_tokens),
            (_FURTHER_TOKENS, counts.answers, counts.slow_answers),
        ):
            if requests is not None and late is not None:
                held.add_metric([*state.key, name], requests)
                over.add_metric([*state.key, name], late)
    yield from (wanted, held, over)
