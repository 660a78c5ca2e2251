"""AIBrix's APA: the mean of each pod's metric over three minutes against a target; the largest demand wins.

docs/source/features/autoscaling/metric-based-autoscaling.rst of github.com/vllm-project/aibrix (September 2026):
observeWindowSeconds 180, tolerance 0.1 both ways, at most twice or half as many in one decision, a cooldown of 300 s
before fewer. Targets from its sample multimetrics-apa.yaml: KV cache 0.5, 100 requests waiting. The cooldown holds the
largest recommendation, as documented; releases before the fix of issue 2821 take the smallest.
"""

import math
from dataclasses import dataclass

from llmservice.autoscaling.arithmetic import mean
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.simulation.peers.deciding import decided
from llmservice.simulation.replaying import Decider

INTERVAL_SECONDS = 10.0
KV_CACHE_TARGET = 0.5
QUEUE_TARGET = 100.0
_WINDOW = 18
"""Intervals: three minutes."""

_COOLDOWN = 30
"""Intervals: five minutes."""

_TOLERANCE = 0.1
_RATE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ApaMemory:
    """Means over the pods of the last three minutes, and recommendations of the last five, oldest first."""

    kv_uses: tuple[float, ...] = ()
    queues: tuple[float, ...] = ()
    recommendations: tuple[int, ...] = ()


def recommended(average: float, target: float, replicas: int, ready: int) -> int:
    """Replicas for a metric's mean per ready pod.

    Counted from all replicas, those that start included, then corrected for them: on the way up they are taken for
    idle, on the way down for pods at the target.
    """
    ratio = average / target
    if ratio > 1 + _TOLERANCE:
        wanted = min(math.ceil(replicas * ratio), math.ceil(replicas * _RATE))
        return min(wanted, max(replicas, math.ceil(ready * ratio)))
    if ratio < 1 - _TOLERANCE:
        wanted = max(math.ceil(replicas * ratio), math.floor(replicas / _RATE))
        return max(wanted, min(replicas, math.ceil(ready * ratio + replicas - ready)))
    return replicas


def aibrix(policy: ScalingPolicy) -> Decider:
    """APA on KV-cache use and queue; to be asked every INTERVAL_SECONDS."""
    memory = ApaMemory()

    def decide(snapshot: Snapshot, _: float) -> Decision:
        nonlocal memory
        if not snapshot.ready:
            return decided(snapshot.replicas, policy.bounded(snapshot.replicas), "no pod has metrics")
        memory = _observed(memory, snapshot)
        kv, queue = mean(memory.kv_uses), mean(memory.queues)
        ready, running = len(snapshot.ready), snapshot.replicas
        by_signal = (recommended(kv, KV_CACHE_TARGET, running, ready), recommended(queue, QUEUE_TARGET, running, ready))
        wanted = policy.bounded(max(by_signal))
        memory = ApaMemory(
            kv_uses=memory.kv_uses,
            queues=memory.queues,
            recommendations=(*memory.recommendations, wanted)[-_COOLDOWN:],
        )
        held = wanted if wanted >= running else min(running, max(memory.recommendations))
        return decided(running, held, f"KV cache {kv:.0%}, queue {queue:.1f} over three minutes")

    return decide


def _observed(memory: ApaMemory, snapshot: Snapshot) -> ApaMemory:
    kv_use = mean(tuple(replica.kv_use or 0.0 for replica in snapshot.ready))
    return ApaMemory(
        kv_uses=(*memory.kv_uses, kv_use)[-_WINDOW:],
        queues=(*memory.queues, snapshot.waiting / len(snapshot.ready))[-_WINDOW:],
        recommendations=memory.recommendations,
    )
