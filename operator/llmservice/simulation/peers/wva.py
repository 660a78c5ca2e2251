"""llm-d's Workload Variant Autoscaler: one replica more when KV cache or queues leave too little to spare.

The percentage-based analyzer, which was the default until version 0.8 and can still be chosen (docs/
saturation-analyzer.md and docs/saturation-scaling-config.md of github.com/llm-d/llm-d-workload-variant-autoscaler);
since 0.9 a token-based one is the default, which is not simulated. Every 60 s, from the largest KV-cache use and queue
of each replica within the last minute. An HPA applies the number; its chart stabilizes for 240 s both ways, here it
has the HPA's own defaults, which are faster.
"""

from collections.abc import Mapping, Sequence

from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.simulation.peers.hpa import SYNC_SECONDS, by_external_metric, scaled_by
from llmservice.simulation.replaying import Decider

KV_CACHE_THRESHOLD = 0.8
QUEUE_LENGTH_THRESHOLD = 5.0
KV_SPARE_TRIGGER = 0.1
QUEUE_SPARE_TRIGGER = 3.0

_SAMPLES = round(60 / SYNC_SECONDS)
"""Scrapes within the minute that peaks are taken from, and syncs of the HPA from one analysis to the next."""

Load = tuple[float, float]
"""KV-cache use 0-1 and requests waiting on one replica."""


def analyzed(loads: Sequence[Load], starting: int) -> int:
    """Replicas by the load of those that are ready; with others starting, all of them stay.

    Spare is averaged over replicas that are not saturated: 0.8 less KV-cache use and 5 less queue. One more when less
    than 0.1 or 3 is spare. One fewer when that much stays spare after the others took over its load.
    """
    ready = len(loads)
    if starting or not ready:
        return ready + starting
    free = [(kv, queue) for kv, queue in loads if kv < KV_CACHE_THRESHOLD and queue < QUEUE_LENGTH_THRESHOLD]
    if not _spare(free, len(free)):
        return ready + 1
    if len(free) > 1 and _spare(free, len(free) - 1):
        return ready - 1
    return ready


def _spare(loads: Sequence[Load], replicas: int) -> bool:
    """Whether these loads on so many replicas leave enough of both."""
    if not replicas:
        return False
    kv = sum(kv for kv, _ in loads) / replicas
    queue = sum(queue for _, queue in loads) / replicas
    return KV_CACHE_THRESHOLD - kv >= KV_SPARE_TRIGGER and QUEUE_LENGTH_THRESHOLD - queue >= QUEUE_SPARE_TRIGGER


def wva(policy: ScalingPolicy) -> Decider:
    """WVA with its default thresholds; to be asked every 15 s, the HPA's period."""
    samples, wanted = list[Mapping[str, Load]](), 0

    def recommend(snapshot: Snapshot, _: float) -> tuple[int, str]:
        nonlocal wanted
        samples.append({replica.name: (replica.kv_use or 0.0, replica.waiting) for replica in snapshot.ready})
        if len(samples) == _SAMPLES:
            peaks = [_peak(name, samples) for name in samples[-1]]
            wanted = analyzed(peaks, len(snapshot.members) - len(peaks))
            samples.clear()
        replicas = by_external_metric(wanted or snapshot.replicas, 1.0, snapshot.replicas)
        return replicas, f"{wanted or snapshot.replicas} by saturation"

    return scaled_by(recommend, policy)


def _peak(name: str, samples: Sequence[Mapping[str, Load]]) -> Load:
    known = [sample[name] for sample in samples if name in sample]
    return max(kv for kv, _ in known), max(queue for _, queue in known)
