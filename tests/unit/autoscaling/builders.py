"""Services as the autoscaler sees them: valid by default, each test changes what it is about."""

from typing import Any

from llmservice.autoscaling.counters import Counters, Histogram
from llmservice.autoscaling.deciding import decide
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.memory import Memory
from llmservice.autoscaling.policy import Law, Roofline, ScalingPolicy
from llmservice.autoscaling.snapshot import Flow, Phase, Replica, Snapshot
from llmservice.planning.scaling_plan import LoadTargets

ROOFLINE = Roofline(parameters=8e9, weight_bytes=16e9, operations_per_second=312e12, bytes_per_second=2e12)
"""An 8B model on one A100."""


def a_policy(**changes: Any) -> ScalingPolicy:
    values: dict[str, Any] = {"minimum": 1, "maximum": 16, "roofline": ROOFLINE}
    return ScalingPolicy(**values | changes)


def a_threshold_policy(**changes: Any) -> ScalingPolicy:
    targets = LoadTargets(kv_use=0.8, waiting=4.0)
    return a_policy(**{"law": Law.THRESHOLD, "targets": targets} | changes)


def a_flow(requests: float = 40.0, **changes: Any) -> Flow:
    """Ten seconds in which so many requests of 1000 + 200 tokens came and were answered, all in time."""
    values: dict[str, Any] = {
        "seconds": 10.0,
        "prompt_tokens": requests * 1000,
        "generated_tokens": requests * 200,
        "finished": requests,
        "arrived": requests,
        "first_tokens": requests,
        "ttft_violations": 0.0,
        "tpot_violations": 0.0,
        "inter_token_count": requests * 199,
        "inter_token_seconds": requests * 199 * (0.01 + requests * 0.0002),
        "finished_prompt_tokens": requests * 1000,
        "finished_generated_tokens": requests * 200,
    }
    return Flow(**values | changes)


def a_replica(name: str = "chat-0", *, flow: Flow | None = None, **changes: Any) -> Replica:
    values: dict[str, Any] = {"name": name, "running": 8.0, "kv_use": 0.2, "flow": flow or a_flow()}
    return Replica(**values | changes)


def a_starting_replica(name: str = "chat-9") -> Replica:
    return Replica(name=name, phase=Phase.STARTING)


def a_silent_replica(name: str = "chat-8") -> Replica:
    return Replica(name=name, phase=Phase.UNREADABLE)


def a_snapshot(*members: Replica, **changes: Any) -> Snapshot:
    """These replicas, one of them by default; as many are asked for as there are."""
    members = members or (a_replica(),)
    values: dict[str, Any] = {"replicas": len(members), "members": members}
    return Snapshot(**values | changes)


def replicas_under(requests: float, number: int, **changes: Any) -> tuple[Replica, ...]:
    """So many replicas that share this many requests in ten seconds."""
    flow = a_flow(requests / number)
    return tuple(a_replica(f"chat-{index}", flow=flow, **changes) for index in range(number))


def after(policy: ScalingPolicy, snapshots: list[Snapshot], memory: Memory | None = None) -> tuple[Decision, Memory]:
    """The last decision, when these snapshots come one period apart, and the memory then."""
    memory = memory or Memory()
    start = (memory.at or 0.0) + policy.period_seconds
    for tick, snapshot in enumerate(snapshots):
        decision, memory = decide(policy, snapshot, memory, start + tick * policy.period_seconds)
    return decision, memory


def followed(policy: ScalingPolicy, loads: list[float], memory: Memory | None = None) -> tuple[list[int], Memory]:
    """What is decided when these requests (per ten seconds) come and every replica asked for is ready at once."""
    memory, running, decided = memory or Memory(), policy.minimum, list[int]()
    for load in loads:
        decision, memory = after(policy, [a_snapshot(*replicas_under(load, running))], memory)
        running = decision.replicas
        decided.append(running)
    return decided, memory


def counters(at: float = 0.0, **changes: Any) -> Counters:
    """A scrape of an engine with latency histograms."""
    values: dict[str, Any] = {
        "at": at,
        "running": 0.0,
        "waiting": 0.0,
        "prompt_tokens": 0.0,
        "generated_tokens": 0.0,
        "finished": 0.0,
        "ttft": Histogram(count=0, total=0, bounds=(1.0, 2.5, 5.0), counts=(0, 0, 0)),
        "tpot": Histogram(count=0, total=0, bounds=(0.05, 0.1), counts=(0, 0)),
        "inter_token_latency": Histogram(count=0, total=0),
    }
    return Counters(**values | changes)
