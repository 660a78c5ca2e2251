"""What is remembered of one service's pods from look to look: how far they were, their last counters and flow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from llmservice.autoscaling.counters import Counters, flow_between
from llmservice.autoscaling.policy import Objective
from llmservice.autoscaling.snapshot import Flow, Phase, Replica, Snapshot
from llmservice.converging.scaled_pods import ScaledPod, Standing
from llmservice.signals.source import ReadFailure, Reading

PodReadings = Mapping[str, Reading | ReadFailure]
"""By name of the pod."""

_CLEARING_SECONDS = 120.0
"""After its grace period a pod is killed, its devices are given back, and the next one is looked at."""


@dataclass(frozen=True, slots=True)
class _PodRecord:
    """A pod since its engine was started last.

    `unready_at` is when it was last seen on its way, or not there yet; None when the first look of all found that it
    serves or has served, or it was started again: then nothing is known of what it had done by then. `was_ready` from
    the first look on that found so.
    """

    restarts: int
    unready_at: float | None = None
    was_ready: bool = False
    counters: Counters | None = None
    flow: Flow | None = None


@dataclass(slots=True, kw_only=True)
class PodHistory:
    """The pods of one service. `look` is called once for each look, in order of time."""

    _pods: dict[str, _PodRecord] = field(default_factory=dict)
    _looked_at: float | None = None

    def look(
        self, pods: Sequence[ScaledPod], readings: PodReadings, *, asked: int, objective: Objective, now: float
    ) -> Snapshot:
        """The snapshot for a decision; `asked` replicas are asked for now. `now` in seconds since 1970."""
        before, self._pods = self._pods, {}
        looked_at, self._looked_at = self._looked_at, now
        members, cold_starts = list[Replica](), list[float]()
        for pod in pods:
            known = before.get(pod.uid, _PodRecord(pod.restarts, unready_at=looked_at))
            if known.restarts != pod.restarts:
                known = _PodRecord(pod.restarts)
            if pod.standing is not Standing.READY:
                self._pods[pod.uid] = _not_ready(known, pod, now)
                members.append(Replica(name=pod.name, phase=Phase.STARTING))
                continue
            if not known.was_ready and known.unready_at is not None and pod.cold_start_seconds is not None:
                cold_starts.append(pod.cold_start_seconds)
            known = replace(known, was_ready=True)
            reading = readings.get(pod.name)
            if isinstance(reading, Reading):
                known = _with_reading(known, reading, objective)
            self._pods[pod.uid] = known
            members.append(_replica(pod, known, reading))
        return Snapshot(
            replicas=asked,
            members=tuple(members),
            unschedulable=sum(_finds_no_place(pod, now) for pod in pods),
            cold_starts=tuple(cold_starts),
        )


def _not_ready(known: _PodRecord, pod: ScaledPod, now: float) -> _PodRecord:
    """On its way, or not ready for a moment: what such a pod did before must not count as done in that moment."""
    if known.was_ready or pod.has_served:
        return replace(known, was_ready=True)
    return replace(known, unready_at=now)


def _finds_no_place(pod: ScaledPod, now: float) -> bool:
    """Whether it waits for a node, and not for a pod that is being stopped; one that should be gone by now is stuck."""
    if pod.standing is not Standing.UNSCHEDULABLE:
        return False
    return not pod.place_by or now > datetime.fromisoformat(pod.place_by).timestamp() + _CLEARING_SECONDS


def _with_reading(known: _PodRecord, reading: Reading, objective: Objective) -> _PodRecord:
    """The flow since the last reading, or since the pod was last seen starting, when it had done nothing.

    A source may give the same sample twice: then the flow it ended stands.
    """
    now, before = reading.counters, known.counters
    if before is None and known.unready_at is not None:
        before = Counters.at_start(now, known.unready_at)
    if before is not None and before.at == now.at:
        return known
    return replace(known, counters=now, flow=None if before is None else flow_between(before, now, objective))


def _replica(pod: ScaledPod, known: _PodRecord, reading: Reading | ReadFailure | None) -> Replica:
    if not isinstance(reading, Reading):
        return Replica(name=pod.name, phase=Phase.SILENT)
    counters = reading.counters
    return Replica(
        name=pod.name,
        running=counters.running,
        waiting=counters.waiting,
        kv_use=reading.kv_use,
        slots=reading.slots,
        flow=known.flow,
    )
