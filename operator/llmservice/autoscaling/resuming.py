"""A service that was known before, of which too little was read since: after a gap, or with other replicas."""

import dataclasses

from llmservice.autoscaling.decision import Decision, Vote
from llmservice.autoscaling.demand import HALF_MINUTE, cold_start_seconds
from llmservice.autoscaling.memory import Demand, Memory
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.autoscaling.stabilization import stabilization_window_seconds, with_both

_EVALUATIONS = 5
"""At most: a Prometheus that scrapes every 30 s gives two readings by then."""

_EVALUATIONS_WITH_QUEUES = 2


def is_resumed(demand: Demand, snapshot: Snapshot) -> bool:
    """Whether the number that runs says more than the few readings there are: it was decided by what was known before.

    A new service never has more half minutes than evaluations. After the second, queues on all replicas end it, and an
    engine that reports no inter-token latency ends it at once: there is nothing to wait for.
    """
    evaluations = len(demand.held)
    known = demand.known_before or HALF_MINUTE * len(demand.half_minutes) > evaluations
    if evaluations > _EVALUATIONS or not known:
        return False
    if any(flow.inter_token_count is None for flow in snapshot.flows):
        return False
    return evaluations <= _EVALUATIONS_WITH_QUEUES or not all(replica.waiting for replica in snapshot.ready)


def unchanged(snapshot: Snapshot, memory: Memory, now: float) -> tuple[Decision, Memory]:
    """The running number, which then counts as wanted for one hold window."""
    running, window = snapshot.replicas, stabilization_window_seconds(cold_start_seconds(memory.demand))
    message = (
        f"{snapshot.running + snapshot.waiting:.0f} requests; too little was read so far to say how many replicas "
        "they need, so the number stays"
    )
    decision = Decision(
        target=running,
        replicas=running,
        message=message,
        trace=(Vote(step="resumed", replicas=running, message=message),),
    )
    stabilization = with_both(memory.stabilization, running, running, now, window)
    return decision, dataclasses.replace(memory, stabilization=stabilization)
