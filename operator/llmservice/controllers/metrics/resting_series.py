"""Series of services that may have no replica: whether they sleep, what is held for them, how long a start takes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from llmservice.reconcilers.scaling.service_state import ServiceState

_LABELS = ["namespace", "name"]


@dataclass(frozen=True, slots=True)
class _Families:
    asleep: GaugeMetricFamily = field(
        default_factory=lambda: GaugeMetricFamily(
            "llmservice_asleep", "1 while no replica is to run because nobody asks anything, else 0.", labels=_LABELS
        )
    )
    held: GaugeMetricFamily = field(
        default_factory=lambda: GaugeMetricFamily(
            "llmservice_held_requests", "Requests that activators hold for the service.", labels=_LABELS
        )
    )
    start: GaugeMetricFamily = field(
        default_factory=lambda: GaugeMetricFamily(
            "llmservice_wake_seconds", "Seconds that the last start took, from no pod to ready.", labels=_LABELS
        )
    )
    wakes: CounterMetricFamily = field(
        default_factory=lambda: CounterMetricFamily(
            "llmservice_wakes", "Starts from no replica, since this process leads.", labels=_LABELS
        )
    )
    answered: CounterMetricFamily = field(
        default_factory=lambda: CounterMetricFamily(
            "llmservice_held_answered", "Requests that activators had answered by a replica.", labels=_LABELS
        )
    )
    refused: CounterMetricFamily = field(
        default_factory=lambda: CounterMetricFamily(
            "llmservice_held_refused", "Requests that activators refused.", labels=_LABELS
        )
    )


def resting_series(states: Iterable[ServiceState]) -> Iterator[Metric]:
    """Those of services that may sleep; no other has any of them."""
    families = _Families()
    for state in states:
        if state.may_sleep:
            _add(families, state)
    yield from (families.asleep, families.held, families.start, families.wakes, families.answered, families.refused)


def _add(families: _Families, state: ServiceState) -> None:
    families.asleep.add_metric(state.key, float(state.idleness.asleep_since is not None))
    families.held.add_metric(state.key, state.held)
    families.wakes.add_metric(state.key, state.wakes)
    families.answered.add_metric(state.key, state.passed_on)
    families.refused.add_metric(state.key, state.refused)
    if state.start_seconds is not None:
        families.start.add_metric(state.key, state.start_seconds)
