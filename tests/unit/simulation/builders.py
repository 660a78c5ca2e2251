"""Small engines and loads whose outcome can be computed by hand."""

import random
from collections.abc import Sequence
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.policy import Roofline
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.simulation.engine_profile import EngineProfile
from llmservice.simulation.engine_replica import EngineReplica
from llmservice.simulation.replaying import Decider
from llmservice.simulation.request import Arrival, Request

ROOFLINE = Roofline(parameters=1e9, weight_bytes=2e9, operations_per_second=1e14, bytes_per_second=1e12)


def a_profile(**changes: Any) -> EngineProfile:
    """10 ms an iteration whatever its size, 100 tokens at most, no attention, a KV cache nobody fills."""
    values: dict[str, Any] = {
        "name": "small",
        "description": "a small engine",
        "devices": 2,
        "step_seconds": (0.01,) * 101,
        "kv_read_seconds": 0.0,
        "attention_seconds": 0.0,
        "kv_cache_tokens": 1_000_000,
        "roofline": ROOFLINE,
        "max_sequences": 8,
    }
    return EngineProfile(**values | changes)


def a_replica(profile: EngineProfile | None = None, **changes: Any) -> EngineReplica:
    return EngineReplica(profile or a_profile(), **{"clock": 0.0} | changes)


def a_request(at: float = 0.0, prompt: int = 50, output: int = 5) -> Request:
    return Request(at=at, prompt_tokens=prompt, output_tokens=output)


def some_arrivals(count: int, seconds: float, *, seed: int = 0) -> list[Arrival]:
    chance = random.Random(seed)  # noqa: S311  (a test repeats itself)
    times = sorted(chance.uniform(0, seconds) for _ in range(count))
    return [Arrival(at, chance.randint(10, 1500), chance.randint(1, 300)) for at in times]


def worked_off(replica: EngineReplica, arrivals: Sequence[Arrival]) -> list[Request]:
    """The requests after the replica has taken them at their times and finished them all."""
    requests = []
    for arrival in arrivals:
        replica.advance(arrival.at)
        requests.append(Request(*arrival))
        replica.add(requests[-1], arrival.at)
    replica.advance(arrivals[-1].at + 1e5)
    return requests


def always(replicas: int) -> Decider:
    def decided(snapshot: Snapshot, now: float) -> Decision:  # noqa: ARG001  (a decider's signature)
        return Decision(replicas=replicas, reason=Reason.STEADY, message=f"{replicas}")

    return decided
