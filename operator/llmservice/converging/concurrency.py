"""Whether more requests run at once than the KV cache holds, and how many would fit.

An engine whose KV cache is full puts its newest request back into the queue and computes it again later. A few such
preemptions are harmless; many make every request slow, while no metric of latency names the cause.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition
from llmservice.converging.pod_readings import Reading

WINDOW_SECONDS = 600.0
_BUCKET_SECONDS = 60.0
_LEAST_SECONDS = 300.0
_FEWEST_FINISHED = 50
_TOO_MANY = 0.02
_FEW_AGAIN = 0.005
"""Preemptions for each request that ends: above the first it is told, below the second it is over."""
_FULL = 0.9
_FITTING = 0.85
"""Share of the KV cache that is in use at the number of requests that is proposed: answers differ in length."""


@dataclass(frozen=True, slots=True)
class _Bucket:
    """A minute of one service: what happened, and of `full` readings how many requests would have fitted, added up."""

    began: float
    preempted: float = 0.0
    finished: float = 0.0
    full: int = 0
    fitting: float = 0.0

    def plus(self, other: "_Bucket") -> "_Bucket":
        return _Bucket(
            self.began,
            self.preempted + other.preempted,
            self.finished + other.finished,
            self.full + other.full,
            self.fitting + other.fitting,
        )


@dataclass(frozen=True, slots=True)
class _Counted:
    preemptions: float
    finished: float


@dataclass(frozen=True, slots=True)
class Preemptions:
    """What is known of one service's last ten minutes. Empty at first; `condition` is what is said, since `said_at`."""

    pods: Mapping[str, _Counted] = field(default_factory=dict)
    buckets: tuple[_Bucket, ...] = ()
    condition: Condition | None = None
    said_at: float = 0.0


def counted(before: Preemptions, readings: Iterable[tuple[str, Reading]], max_num_seqs: int, now: float) -> Preemptions:
    """What is known after the readings of a round, each with the UID of its pod.

    The condition is EngineProgressing while too many requests run at once, with the number to set; None while they do
    not. Its numbers are renewed every ten minutes: between two, a status need not be written.
    """
    pods, minute = dict[str, _Counted](), _Bucket(now)
    for uid, reading in readings:
        counters = reading.counters
        if counters.preemptions is not None and counters.finished is not None:
            pods[uid] = _Counted(counters.preemptions, counters.finished)
            minute = minute.plus(_gained(before.pods.get(uid), pods[uid])).plus(_room(reading))
    buckets = _with([each for each in before.buckets if now - each.began < WINDOW_SECONDS], minute)
    known = replace(before, pods=pods, buckets=buckets)
    if not _is_too_high(known, now):
        return replace(known, condition=None)
    if known.condition is not None and now - known.said_at < WINDOW_SECONDS:
        return known
    return replace(known, condition=_condition(buckets, max_num_seqs), said_at=now)


def rounded_down(requests: float) -> int:
    """A number as people set it: below 16 any, then multiples of 4, and from 64 on of 16."""
    unit = 1 if requests < 16 else 4 if requests < 64 else 16  # noqa: PLR2004
    return max(1, int(requests // unit * unit))


def _gained(before: _Counted | None, after: _Counted) -> _Bucket:
    """What happened between two readings of a pod; nothing is known where its counters began anew."""
    if before is None or after.preemptions < before.preemptions or after.finished < before.finished:
        return _Bucket(0.0)
    return _Bucket(0.0, after.preemptions - before.preemptions, after.finished - before.finished)


def _room(reading: Reading) -> _Bucket:
    """How many requests like those that run would fill the share that is aimed at; nothing while there is room."""
    if reading.kv_use is None or reading.kv_use < _FULL:
        return _Bucket(0.0)
    return _Bucket(0.0, full=1, fitting=reading.counters.running * _FITTING / reading.kv_use)


def _with(buckets: Sequence[_Bucket], minute: _Bucket) -> tuple[_Bucket, ...]:
    if not buckets or minute.began - buckets[-1].began >= _BUCKET_SECONDS:
        return (*buckets, minute)
    return (*buckets[:-1], buckets[-1].plus(minute))


def _sum(buckets: Sequence[_Bucket]) -> _Bucket:
    return functools.reduce(_Bucket.plus, buckets)


def _rate(buckets: Sequence[_Bucket]) -> float:
    """Preemptions for each request that ended."""
    whole = _sum(buckets)
    return whole.preempted / max(1.0, whole.finished)


def _is_too_high(known: Preemptions, now: float) -> bool:
    """Above the level, when it is so by enough requests; from then on until it is low again."""
    if known.condition is not None:
        return _rate(known.buckets) > _FEW_AGAIN
    enough = _sum(known.buckets).finished >= _FEWEST_FINISHED and now - known.buckets[0].began >= _LEAST_SECONDS
    return enough and _rate(known.buckets) > _TOO_MANY


def _condition(buckets: Sequence[_Bucket], max_num_seqs: int) -> Condition:
    whole = _sum(buckets)
    fitting = whole.fitting / whole.full if whole.full else max_num_seqs * _FITTING
    proposed = rounded_down(min(fitting, max_num_seqs * _FITTING))
    return Condition(
        type=ConditionType.ENGINE_PROGRESSING,
        status=False,
        reason=Reason.CONCURRENCY_TOO_HIGH,
        message=f"{100 * _rate(buckets):.1f} preemptions for each 100 requests: the KV cache is too small for "
        f"{max_num_seqs} requests at once; set spec.maxNumSeqs to {proposed}, or add replicas",
    )
