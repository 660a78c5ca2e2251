"""Series of services that may have no replica: whether they sleep, what is held for them, how long a start takes."""

from collections.abc import Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from llmservice.reconcilers.scaling.service_state import ServiceState

_LABELS = ["namespace", "name"]


def resting_series(states: Iterable[ServiceState]) -> Iterator[Metric]:
    """Those of services that may sleep; no other has any of them."""
    asleep = GaugeMetricFamily(
        "llmservice_asleep", "1 while no replica is to run because nobody asks anything, else 0.", labels=_LABELS
    )
    held = GaugeMetricFamily(
        "llmservice_held_requests", "Requests that activators hold for the service.", labels=_LABELS
    )
    start = GaugeMetricFamily(
        "llmservice_wake_seconds", "Seconds that the last start took, from no pod to ready.", labels=_LABELS
    )
    wakes = CounterMetricFamily("llmservice_wakes", "Starts from no replica, since this process leads.", labels=_LABELS)
    answered = CounterMetricFamily(
        "llmservice_held_answered", "Requests that activators had answered by a replica.", labels=_LABELS
    )
    refused = CounterMetricFamily("llmservice_held_refused", "Requests that activators refused.", labels=_LABELS)
    for state in states:
        if not state.may_sleep:
            continue
        asleep.add_metric(state.key, float(state.idleness.asleep_since is not None))
        held.add_metric(state.key, state.held)
        wakes.add_metric(state.key, state.wakes)
        answered.add_metric(state.key, state.passed_on)
        refused.add_metric(state.key, state.refused)
        if state.start_seconds is not None:
            start.add_metric(state.key, state.start_seconds)
    yield from (asleep, held, start, wakes, answered, refused)
