"""`decide`: what every law has in common: old memories, missing readings, bounds, unschedulable replicas."""

import dataclasses
from collections.abc import Callable

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling import learned, threshold
from llmservice.autoscaling.decision import Decision, Vote
from llmservice.autoscaling.memory import Demand, Memory, Stabilization
from llmservice.autoscaling.policy import Law, ScalingPolicy
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.autoscaling.stabilization import with_change

_GAP_PERIODS = 6
"""A memory older than this many periods is no longer continued."""

_RATE_PERIOD_SECONDS = 60.0
"""Changes are remembered for this long; no rate limit has a longer period."""

ScalingLaw = Callable[[ScalingPolicy, Snapshot, Memory, float], tuple[Decision, Memory]]

_LAWS: dict[Law, ScalingLaw] = {Law.LEARNED: learned.propose, Law.THRESHOLD: threshold.propose}


def decide(policy: ScalingPolicy, snapshot: Snapshot, memory: Memory, now: float) -> tuple[Decision, Memory]:
    """Replicas to run next and why, and what to remember for the next call.

    `now` in seconds of a clock that checkpoints share with their reader. No replica read: nothing changes. Some not
    read: never fewer. Replicas asked for that are unschedulable: no more are asked for.
    """
    if not snapshot.ready:
        return _frozen(policy, snapshot), memory
    memory = _continued(policy, snapshot, memory, now)
    wanted, memory = _LAWS[policy.law](policy, snapshot, memory, now)
    decision = _explained(policy, snapshot, wanted)
    stabilization = with_change(memory.stabilization, decision.replicas - snapshot.replicas, now, _RATE_PERIOD_SECONDS)
    return decision, dataclasses.replace(memory, at=now, stabilization=stabilization)


def _continued(policy: ScalingPolicy, snapshot: Snapshot, memory: Memory, now: float) -> Memory:
    """The memory as it counts now: after a gap, or when the clock went back, only what ages slowly.

    Then the running replicas count as a target of this moment, so that none is dropped for one stabilization window.
    """
    if memory.at is not None and 0 <= now - memory.at <= _GAP_PERIODS * policy.period_seconds:
        return memory
    demand, capacity = memory.demand, memory.capacity
    # Read since the gap before this one, and no load learned: of a service that can hardly be read nothing is known.
    half_minutes = () if demand.held and not demand.loads else demand.half_minutes
    return Memory(
        capacity=dataclasses.replace(capacity, minutes={}),
        demand=Demand(
            sizes=demand.sizes,
            half_minutes=half_minutes,
            error=demand.error,
            ordinary_error=demand.ordinary_error,
            judged=demand.judged,
            cold_starts=demand.cold_starts,
            surprise=demand.surprise,
            surprise_hours=demand.surprise_hours,
            known_before=demand.known_before,
        ),
        stabilization=Stabilization(targets=((now, snapshot.replicas),), needs=((now, snapshot.replicas),)),
    )


def _frozen(policy: ScalingPolicy, snapshot: Snapshot) -> Decision:
    replicas = policy.bounded(snapshot.replicas)
    why = f"{snapshot.unreadable} cannot be read, {snapshot.starting} are starting"
    stays = replicas == snapshot.replicas
    said = f"no replica was read ({why}); the number stays until one is" if stays else _bounds(policy)
    return Decision(
        replicas=replicas,
        reason=Reason.NO_FRESH_READINGS if stays else Reason.OUT_OF_BOUNDS,
        message=f"{_step(snapshot.replicas, replicas)}: {said}",
        trace=(Vote(step="readings", replicas=replicas, message=why),),
    )


def _explained(policy: ScalingPolicy, snapshot: Snapshot, wanted: Decision) -> Decision:
    """What the law wants, within what readings, pending pods and bounds allow, with the reason that decided."""
    running = snapshot.replicas
    replicas, reason, note = _allowed(policy, snapshot, wanted)
    message = f"{_step(running, replicas)}: {wanted.message}"
    return Decision(
        replicas=replicas,
        reason=reason,
        message=f"{message}; {note}" if note else message,
        target=wanted.target,
        trace=(*wanted.trace, Vote(step="result", replicas=replicas, message=note or str(reason))),
    )


def _allowed(policy: ScalingPolicy, snapshot: Snapshot, wanted: Decision) -> tuple[int, Reason, str]:
    """Replicas, reason and a note on what holds back what the law wants.

    | the law wants                              | then                                             |
    |--------------------------------------------|--------------------------------------------------|
    | the running number lies outside the bounds | OutOfBounds: the bound                           |
    | fewer, but some replicas were not read     | PartialReadings: the running number              |
    | no fewer, but some are unschedulable       | PodsPending: the running number                  |
    | anything else                              | that; the reason follows from load, window, bounds |
    """
    running, asked, target = snapshot.replicas, policy.bounded(wanted.replicas), policy.bounded(_target(wanted))
    if policy.bounded(running) != running:
        return asked, Reason.OUT_OF_BOUNDS, _bounds(policy)
    if snapshot.unreadable and target < running:
        note = f"{snapshot.unreadable} of {snapshot.serving} replicas cannot be read: not scaling down"
        return running, Reason.PARTIAL_READINGS, note
    if snapshot.unschedulable and asked >= running:
        note = f"{snapshot.unschedulable} replicas are unschedulable: free or add nodes, or lower maxReplicas"
        return running, Reason.PODS_PENDING, note
    return asked, *_why(policy, running, asked, wanted)


def _bounds(policy: ScalingPolicy) -> str:
    of = f" of schedule {policy.schedule}" if policy.schedule else ""
    return f"bounds {policy.minimum} to {policy.maximum}{of}"


def _why(policy: ScalingPolicy, running: int, asked: int, wanted: Decision) -> tuple[Reason, str]:
    if wanted.reason is Reason.SIGNAL_MISSING:
        return wanted.reason, ""
    if asked != running:
        return (Reason.LOAD_ROSE if asked > running else Reason.LOAD_FELL), ""
    target = _target(wanted)
    if policy.bounded(target) < running:
        return Reason.STABILIZING, f"{policy.bounded(target)} would do now, held by the stabilization window"
    if asked == policy.minimum and target <= policy.minimum:
        return Reason.AT_MINIMUM, ""
    if asked == policy.maximum and target >= policy.maximum:
        return Reason.AT_MAXIMUM, "maxReplicas reached"
    return Reason.STEADY, ""


def _target(wanted: Decision) -> int:
    return wanted.replicas if wanted.target is None else wanted.target


def _step(before: int, after: int) -> str:
    return f"{before} → {after}" if before != after else f"{before}"
