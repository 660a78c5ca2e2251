"""Requests within and beyond the objective, added up from what each round saw: what burn rates are computed from."""

from collections.abc import Iterator
from dataclasses import dataclass

from llmservice.autoscaling.snapshot import Flow
from llmservice.converging.pod_readings import ReadFailure, Reading
from llmservice.reconcilers.scaling.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveCounts:
    """Of one service since this process leads; None for a latency that no engine of it has reported yet.

    `first_tokens`, of which `late_first_tokens` came after the objective's time to first token; `answers`, of which
    `slow_answers` took more than its time for each further token. Numbers over an objective are interpolated within a
    bucket of the engine's histogram, so they are no whole numbers.
    """

    first_tokens: float | None = None
    late_first_tokens: float | None = None
    answers: float | None = None
    slow_answers: float | None = None

    def with_round(self, evaluation: Evaluation, before: Evaluation | None) -> "ObjectiveCounts":
        """With what happened since the round `before`."""
        counts = self
        for flow in _new_flows(evaluation, before):
            counts = counts.with_flow(flow)
        return counts

    def with_flow(self, flow: Flow) -> "ObjectiveCounts":
        """With what one replica did."""
        late, slow = flow.ttft_violations, flow.tpot_violations
        first = flow.first_tokens if late is not None else None
        return ObjectiveCounts(
            first_tokens=_sum(self.first_tokens, first),
            late_first_tokens=_sum(self.late_first_tokens, late),
            answers=_sum(self.answers, flow.finished if slow is not None else None),
            slow_answers=_sum(self.slow_answers, slow),
        )


def _new_flows(evaluation: Evaluation, before: Evaluation | None) -> Iterator[Flow]:
    """A source may give the same sample twice, and then the flow is that of the round before."""
    for replica in evaluation.snapshot.ready:
        old = before.readings.get(replica.name) if before else None
        if replica.flow is not None and _taken_at(evaluation.readings.get(replica.name)) != _taken_at(old):
            yield replica.flow


def _taken_at(reading: Reading | ReadFailure | None) -> float | None:
    return reading.counters.at if isinstance(reading, Reading) else None


def _sum(before: float | None, more: float | None) -> float | None:
    return before if more is None else (before or 0.0) + more
