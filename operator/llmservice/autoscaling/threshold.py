"""The Threshold law: explicit targets per replica for KV cache, queue and running requests; the largest demand wins."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.decision import Decision, Vote
from llmservice.autoscaling.demand import observed
from llmservice.autoscaling.memory import Memory
from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.autoscaling.stabilization import RateLimit, largest, rate_limited, with_target

_TOLERANCE = 0.1
"""As the HorizontalPodAutoscaler's: no step while demand is within 10 % of what runs."""

_DOWN_WINDOW_SECONDS = 300.0
_RATE_LIMIT = RateLimit(period_seconds=60.0, down_share=0.5, down_replicas=1, up_share=1.0, up_replicas=4)
"""Up: at once, at most twice as many or four more in a minute. Down: after 300 s, at most half in a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signal:
    """One target: the sum of its signal over all replicas that serve, None where none reports it; the target each."""

    name: str
    total: float | None
    target: float

    @property
    def replicas(self) -> float:
        """Replicas that would each carry the target."""
        return (self.total or 0.0) / self.target


def propose(policy: ScalingPolicy, snapshot: Snapshot, memory: Memory, now: float) -> tuple[Decision, Memory]:
    """Replicas by targets, and the memory with them.

    demand = max over signals of sum / target: absolute, so replicas on their way are capacity already ordered.
    """
    memory = dataclasses.replace(memory, demand=observed(memory.demand, snapshot))
    signals = _signals(policy, snapshot)
    known = [signal for signal in signals if signal.total is not None]
    votes = tuple(Vote(step=s.name, replicas=s.replicas, message=_vote(s)) for s in signals)
    if not known:
        return _without_signal(snapshot, votes), memory
    winner = max(known, key=lambda signal: signal.replicas)
    target = _rounded(winner.replicas, snapshot.replicas)
    enough = policy.bounded(target)
    targets = with_target(memory.stabilization.targets, enough, now, _DOWN_WINDOW_SECONDS)
    decision = Decision(
        target=target,
        replicas=rate_limited(
            enough, largest(targets), snapshot.replicas, now, memory.stabilization.changes, _RATE_LIMIT
        ),
        message=f"{winner.name} {_vote(winner)} wants {winner.replicas:.1f}",
        trace=(*votes, Vote(step="hold", replicas=largest(targets), message=f"{_DOWN_WINDOW_SECONDS:.0f} s")),
    )
    return decision, dataclasses.replace(
        memory, stabilization=dataclasses.replace(memory.stabilization, targets=targets)
    )


def _signals(policy: ScalingPolicy, snapshot: Snapshot) -> tuple[_Signal, ...]:
    """The signals that targets are set for. What waits in front of the service counts once, whoever was read."""
    targets, ready, serving = policy.targets, snapshot.ready, snapshot.serving
    rows = (
        ("KV cache", _over_all(snapshot.kv_uses, serving), targets.kv_use),
        ("queue", _over_all([replica.waiting for replica in ready], serving, snapshot.gated), targets.waiting),
        ("running", _over_all([replica.running for replica in ready], serving), targets.running),
    )
    return tuple(_Signal(name=name, total=total, target=target) for name, total, target in rows if target)


def _over_all(reported: Sequence[float], serving: int, beside: float = 0.0) -> float | None:
    """The sum over all that serve, plus what is `beside` them; None where no replica reports the signal.

    A replica that was not read, or whose engine has no such signal, is taken to carry what the others carry.
    """
    return sum(reported) * (serving / len(reported)) + beside if reported else None


def _rounded(wanted: float, running: int) -> int:
    """Whole replicas, at least one; the running number while the demand is within 10 % of it."""
    if running and abs(wanted / running - 1) <= _TOLERANCE:
        return running
    return max(1, math.ceil(wanted))


def _without_signal(snapshot: Snapshot, votes: tuple[Vote, ...]) -> Decision:
    running = snapshot.replicas
    return Decision(
        target=running,
        replicas=running,
        reason=Reason.SIGNAL_MISSING,
        message="no target has a signal; the engine reports no KV-cache use: set targets.queuedRequests or "
        "targets.runningRequests",
        trace=votes,
    )


def _vote(signal: _Signal) -> str:
    if signal.total is None:
        return "not reported by this engine"
    if signal.name == "KV cache":
        return f"{signal.total:.0%} in all, target {signal.target:.0%} each"
    return f"{signal.total:.0f} in all, target {signal.target:g} each"
