"""A target of requests per replica: for engines that report too little, and while nothing is learnt yet."""

import dataclasses
import math

from llmservice.autoscaling.arithmetic import mean
from llmservice.autoscaling.decision import Decision, Vote
from llmservice.autoscaling.demand import cold_start_seconds
from llmservice.autoscaling.memory import Memory
from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.autoscaling.stabilization import (
    DEFAULT_RATE_LIMIT,
    largest,
    rate_limited,
    stabilization_window_seconds,
    with_both,
)

_REQUESTS_PER_REPLICA = 16.0
_SLOT_SHARE = 0.75
"""Requests waiting for a slot are served late: aim below the slots where they are few."""

_TOLERANCE = 0.1


def by_concurrency(policy: ScalingPolicy, snapshot: Snapshot, memory: Memory, now: float) -> tuple[Decision, Memory]:
    """Replicas for the requests held now: the larger of the last reading and the last minute, over the target.

    The target is 16 requests per replica, or three quarters of the slots when that is less.
    """
    per_replica = min(_REQUESTS_PER_REPLICA, _SLOT_SHARE * _slots(policy, snapshot))
    held = memory.demand.held or (0,)
    requests = max(held[-1], mean(held)) + snapshot.gated
    target = max(1, math.ceil(requests / per_replica - _TOLERANCE))
    enough = policy.bounded(target)
    window = stabilization_window_seconds(cold_start_seconds(memory.demand))
    stabilization = with_both(memory.stabilization, enough, enough, now, window)
    keep = largest(stabilization.targets)
    message = f"{requests:.0f} requests, {per_replica:.0f} per replica; {_why(snapshot)}"
    decision = Decision(
        target=target,
        replicas=rate_limited(enough, keep, snapshot.replicas, now, stabilization.changes, DEFAULT_RATE_LIMIT),
        message=message,
        trace=(
            Vote(step="concurrency", replicas=requests / per_replica, message=message),
            Vote(step="hold", replicas=keep, message=f"{window:.0f} s"),
        ),
    )
    return decision, dataclasses.replace(memory, stabilization=stabilization)


def _slots(policy: ScalingPolicy, snapshot: Snapshot) -> int:
    return min((replica.slots for replica in snapshot.ready if replica.slots), default=policy.slots)


def _why(snapshot: Snapshot) -> str:
    if any(flow.inter_token_count is None for flow in snapshot.flows):
        return "the engine reports too little to learn from"
    return "nothing is learnt yet"
