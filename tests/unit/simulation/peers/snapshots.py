"""Snapshots of a service, by what its replicas hold."""

from collections.abc import Callable, Iterable

from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.autoscaling.snapshot import Phase, Replica, Snapshot
from llmservice.simulation.replaying import Decider

POLICY = ScalingPolicy(minimum=1, maximum=32)


def a_snapshot(
    *loads: tuple[float, float], kv: Iterable[float] = (), starting: int = 0, gated: float = 0.0
) -> Snapshot:
    """Ready replicas by (running, waiting), with these KV-cache uses, and others that start."""
    uses = [*kv, *[0.0] * len(loads)]
    ready = tuple(
        Replica(name=f"r{number}", running=running, waiting=waiting, kv_use=uses[number])
        for number, (running, waiting) in enumerate(loads)
    )
    others = tuple(Replica(name=f"s{number}", phase=Phase.STARTING) for number in range(starting))
    return Snapshot(replicas=len(loads) + starting, members=(*ready, *others), gated=gated)


def asked(decide: Decider, make: Callable[[int], Snapshot], times: Iterable[float], replicas: int) -> list[int]:
    """What is asked for at each time, when all that is asked for is ready at once and `make` loads so many."""
    numbers = []
    for now in times:
        replicas = decide(make(replicas), now).replicas
        numbers.append(replicas)
    return numbers
