"""Readings of one service's pods → the snapshot to decide from, by what is remembered of each pod between rounds."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from llmservice.autoscaling.counters import Counters, flow_between
from llmservice.autoscaling.policy import Objective
from llmservice.autoscaling.snapshot import Flow, Phase, Replica, Snapshot
from llmservice.converging.pod_readings import PodReadings, ReadFailure, Reading
from llmservice.converging.scaled_pods import PodPhase, ScaledPod

_CLEARING_SECONDS = 120.0
"""After its grace period a pod is killed, its devices are given back, and the next one is scheduled."""

_SECOND = 1.0
"""Kubernetes' times leave out what is less."""


@dataclass(frozen=True, slots=True)
class _PodRecord:
    """A pod since its engine was started last.

    `unready_at` is when it was last seen starting, or not there yet; None when the first round of all found that it
    serves or has served, or it was started again: then nothing is known of what it had done by then. `was_ready` from
    the first round on that found so.
    """

    restarts: int
    unready_at: float | None = None
    was_ready: bool = False
    counters: Counters | None = None
    flow: Flow | None = None


@dataclass(slots=True, kw_only=True)
class PodHistory:
    """The pods of one service. `snapshot` is called once a round, in order of time."""

    _records: dict[str, _PodRecord] = field(default_factory=dict)
    _last_round: float | None = None

    def snapshot(
        self, pods: Sequence[ScaledPod], readings: PodReadings, desired: int, objective: Objective, now: float
    ) -> Snapshot:
        """The snapshot for a decision; `desired` replicas are asked for now. `now` in seconds since 1970."""
        before, self._records = self._records, {}
        last_round, self._last_round = self._last_round, now
        replicas, cold_starts = list[Replica](), list[float]()
        for pod in pods:
            record, reading = _known(pod, before, last_round), readings.get(pod.name)
            if _ends_a_cold_start(record, pod) and pod.cold_start_seconds is not None:
                cold_starts.append(pod.cold_start_seconds)
            record = _continued(record, pod, reading, objective, now)
            self._records[pod.uid] = record
            replicas.append(_replica(pod, record, reading))
        return Snapshot(
            replicas=desired,
            members=tuple(replicas),
            unschedulable=sum(_is_unschedulable(pod, now) for pod in pods),
            cold_starts=tuple(cold_starts),
        )


def _known(pod: ScaledPod, before: dict[str, _PodRecord], last_round: float | None) -> _PodRecord:
    """Its record. A pod that was not there in the last round had done nothing then, unless it was ready by then."""
    record = before.get(pod.uid)
    if record is None:
        return _PodRecord(pod.restarts, unready_at=None if _was_ready_by(pod, last_round) else last_round)
    return record if record.restarts == pod.restarts else _PodRecord(pod.restarts)


def _was_ready_by(pod: ScaledPod, moment: float | None) -> bool:
    """Whether it was ready by then without being ours: a ReplicaSet adopts a pod that gets its label back."""
    if moment is None or pod.phase is not PodPhase.READY or not pod.ready_at:
        return False
    return datetime.fromisoformat(pod.ready_at).timestamp() + _SECOND < moment


def _ends_a_cold_start(record: _PodRecord, pod: ScaledPod) -> bool:
    return pod.phase is PodPhase.READY and not record.was_ready and record.unready_at is not None


def _continued(
    record: _PodRecord, pod: ScaledPod, reading: Reading | ReadFailure | None, objective: Objective, now: float
) -> _PodRecord:
    """The record after this round."""
    if pod.phase is not PodPhase.READY:
        return _not_ready(record, pod, now)
    record = replace(record, was_ready=True)
    return _with_reading(record, reading, objective) if isinstance(reading, Reading) else record


def _not_ready(record: _PodRecord, pod: ScaledPod, now: float) -> _PodRecord:
    """Starting, or not ready for a moment: what such a pod did before must not count as done in that moment."""
    if record.was_ready or pod.has_served:
        return replace(record, was_ready=True)
    return replace(record, unready_at=now)


def _with_reading(record: _PodRecord, reading: Reading, objective: Objective) -> _PodRecord:
    """The flow since the last reading, or since the pod was last seen starting, when it had done nothing.

    A source may give the same sample twice: then the flow it ended stands.
    """
    now, before = reading.counters, record.counters
    if before is None and record.unready_at is not None:
        before = Counters.at_start(now, record.unready_at)
    if before is not None and before.at == now.at:
        return record
    return replace(record, counters=now, flow=None if before is None else flow_between(before, now, objective))


def _replica(pod: ScaledPod, record: _PodRecord, reading: Reading | ReadFailure | None) -> Replica:
    if pod.phase is not PodPhase.READY:
        return Replica(name=pod.name, phase=Phase.STARTING)
    if not isinstance(reading, Reading):
        return Replica(name=pod.name, phase=Phase.UNREADABLE)
    return Replica(
        name=pod.name,
        running=reading.counters.running,
        waiting=reading.counters.waiting,
        kv_use=reading.kv_use,
        slots=reading.slots,
        flow=record.flow,
        counted=reading.counters.all_told,
    )


def _is_unschedulable(pod: ScaledPod, now: float) -> bool:
    """Whether it waits for a node, and not for a pod that is being stopped; one that should be gone by now is stuck."""
    if pod.phase is not PodPhase.UNSCHEDULABLE:
        return False
    return not pod.room_freed_by or now > datetime.fromisoformat(pod.room_freed_by).timestamp() + _CLEARING_SECONDS
