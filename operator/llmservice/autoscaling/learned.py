"""The Learned law, step by step; `docs/explanation/scaling.md` tells it in prose.

 1 capacity line      steps/s fall along a straight line as tokens/s rise                  capacity_line.py
 2 safe load          the load one replica holds with at most 1 % over the objective       safe_load.py, prompt_queue.py
 3 forecast           tokens/s offered one cold start from now, in replicas of safe load   demand.py, forecast.py
 4 reserve            a share of one replica, and square-root staffing that follows how    reserve.py
                      wrong forecasts were
 5 burst floor        what on/off traffic needs                                            forecast.py, reserve.py
 6 queue saturation   replicas that are busy with their own queue                          queue_saturation.py
 7 hold               up at once, down after a window, and not for a trifle                stabilization.py

Every quantity is absolute (never a multiple of the running replicas), so replicas on their way are counted by nature.
"""

import dataclasses
import math
from dataclasses import dataclass

from llmservice.autoscaling.arithmetic import tokens_text
from llmservice.autoscaling.capacity_line import Limits, fitted, learnt, limits, mostly_measured, with_measured
from llmservice.autoscaling.concurrency import by_concurrency
from llmservice.autoscaling.decision import Decision, Vote
from llmservice.autoscaling.demand import cold_start_seconds, observed
from llmservice.autoscaling.forecast import Outlook, burstiness, judged, outlook, working_level
from llmservice.autoscaling.memory import Demand, Memory, Sizes
from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.autoscaling.queue_saturation import queue_saturated
from llmservice.autoscaling.reserve import CUSHIONS, burst_floor, forecast_factor, reserve
from llmservice.autoscaling.resuming import is_resumed, unchanged
from llmservice.autoscaling.safe_load import safe_load, sampled
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.autoscaling.stabilization import (
    DEFAULT_RATE_LIMIT,
    largest,
    rate_limited,
    stabilization_window_seconds,
    with_both,
)

_LEAST_QUEUE_SATURATED = 0.3
_TOLERANCE = 0.1
"""Of a replica: a need of 3.1 is still met by 3."""

_BAND = 0.2
_BAND_PER_ROOT = 0.33
_BAND_PER_NOISE = 1.2
"""Replicas that must become free before one is given up: a load that swings around a whole number changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Need:
    """Replicas wanted now, and the parts it is made of; `safe` in tokens/s per replica, most others in replicas.

    `factor` is what forecasts taught about the reserve; `noise` the standard deviation of a minute's arrivals at one
    replica's safe load, in replicas. `by_profile`: `safe` is what a bench measured rather than what engines reported.
    """

    outlook: Outlook
    limits: Limits
    safe: float
    load: float
    factor: float
    noise: float
    reserve: float
    floor: float
    queue_saturated: float
    by_profile: bool = False

    @property
    def replicas(self) -> float:
        """max(load + reserve, floor), and the replicas saturated by their queue once they are more than a trifle."""
        extra = self.queue_saturated if self.queue_saturated > _LEAST_QUEUE_SATURATED else 0.0
        return max(self.load + self.reserve, self.floor) + extra


def propose(policy: ScalingPolicy, snapshot: Snapshot, memory: Memory, now: float) -> tuple[Decision, Memory]:
    """What the load wants by what was known before, and everything learnt from this snapshot for the next.

    Learning after deciding keeps the law monotone: a reading with more load cannot talk capacity up at the same time.
    """
    known = with_measured(memory.capacity.line, policy.measured)
    demand, line = observed(memory.demand, snapshot), fitted(known, policy.roofline)
    if line is None or not known or demand.sizes is None or not demand.loads:
        seen = dataclasses.replace(memory, demand=demand, capacity=learnt(memory.capacity, snapshot))
        if is_resumed(demand, snapshot):
            return unchanged(snapshot, seen, now)
        return by_concurrency(policy, snapshot, seen, now)
    bounds = limits(line, memory.capacity, demand.sizes, policy)
    need = _need(policy, snapshot, memory, demand, demand.sizes, bounds)
    horizon = cold_start_seconds(demand) + policy.period_seconds
    seen = dataclasses.replace(
        memory,
        demand=judged(demand, need.outlook.ahead, horizon, now, need.safe),
        capacity=sampled(learnt(memory.capacity, snapshot), demand, snapshot, bounds),
    )
    return _held(policy, snapshot, seen, need, now)


def _need(
    policy: ScalingPolicy, snapshot: Snapshot, memory: Memory, demand: Demand, sizes: Sizes, bounds: Limits
) -> _Need:
    cold_start, cushion = cold_start_seconds(demand), CUSHIONS[policy.reserve]
    ahead = outlook(demand, cold_start + policy.period_seconds, policy.period_seconds)
    safe = safe_load(memory.capacity, bounds)
    load = max(ahead.ahead, ahead.now) / safe
    strength = burstiness(memory.demand)
    factor = forecast_factor(memory.demand.surprise, memory.demand.surprise_hours, cushion)
    return _Need(
        outlook=ahead,
        limits=bounds,
        safe=safe,
        load=load,
        factor=factor,
        noise=math.sqrt(sizes.tokens / (60.0 * safe)),
        reserve=reserve(load, cold_start, cushion, factor),
        floor=burst_floor(strength, working_level(memory.demand) / safe, cushion) if strength else 0.0,
        queue_saturated=queue_saturated(snapshot, sizes.tokens, bounds.saturated, cold_start),
        by_profile=mostly_measured(memory.capacity.line, policy.measured),
    )


def _held(
    policy: ScalingPolicy, snapshot: Snapshot, memory: Memory, need: _Need, now: float
) -> tuple[Decision, Memory]:
    """Up at once to what is enough; down when even ample would do for the hold window, or enough for half an hour."""
    cold_start, running = cold_start_seconds(memory.demand), snapshot.replicas
    window = stabilization_window_seconds(cold_start)
    target = max(1, math.ceil(need.replicas - _TOLERANCE))
    enough = policy.bounded(target)
    ample = max(enough, min(running, math.ceil(need.replicas + _band(need))))
    stabilization = with_both(memory.stabilization, ample, enough, now, window)
    keep = min(largest(stabilization.targets), largest(stabilization.needs))
    decision = Decision(
        target=target,
        replicas=rate_limited(enough, keep, running, now, stabilization.changes, DEFAULT_RATE_LIMIT),
        message=_message(need, cold_start + policy.period_seconds),
        trace=(*_votes(need, cold_start), Vote(step="hold", replicas=keep, message=f"{window:.0f} s")),
    )
    return decision, dataclasses.replace(memory, stabilization=stabilization)


def _band(need: _Need) -> float:
    """(0.2 + (0.33 + 1.2 sigma) sqrt(load)) replicas, times the factor of the reserve where that is below 1.

    More under more load, which swings by more replicas, and where a load is made of few requests: sigma sqrt(load) is
    the standard deviation of a minute of Poisson arrivals. Less where forecasts have been right for hours.
    """
    return min(1.0, need.factor) * (_BAND + (_BAND_PER_ROOT + _BAND_PER_NOISE * need.noise) * math.sqrt(need.load))


def _message(need: _Need, horizon: float) -> str:
    """42.0k tokens/s now, 54.6k in 138 s; one replica holds 6.6k within the objective; load 8.2 + reserve 1.4."""
    now, ahead = tokens_text(need.outlook.now), tokens_text(need.outlook.ahead)
    source = " by spec.autoscaling.profile" if need.by_profile else ""
    parts = [
        f"{now} tokens/s now, {ahead} in {horizon:.0f} s",
        f"one replica holds {tokens_text(need.safe)} within the objective{source}",
        f"load {need.load:.1f} + reserve {need.reserve:.1f}",
    ]
    if need.floor > need.load + need.reserve:
        parts.append(f"on/off traffic asks for {need.floor:.1f}")
    if need.queue_saturated > _LEAST_QUEUE_SATURATED:
        parts.append(f"{need.queue_saturated:.1f} replicas busy with their own queue")
    return "; ".join(parts)


def _votes(need: _Need, cold_start: float) -> tuple[Vote, ...]:
    """Every step's say, in replicas."""
    bounds, outlook_ = need.limits, need.outlook
    return (
        Vote(
            step="capacity line",
            replicas=need.load,
            message=f"{tokens_text(need.safe)} tokens/s safe of {tokens_text(bounds.within_objective)}; "
            f"latency {tokens_text(bounds.by_latency)}, "
            f"KV cache and slots {tokens_text(bounds.by_memory)}",
        ),
        Vote(
            step="forecast",
            replicas=outlook_.ahead / need.safe,
            message=f"{tokens_text(outlook_.ahead)} tokens/s, {outlook_.slope * 60:+.0f} a minute",
        ),
        Vote(step="now", replicas=outlook_.now / need.safe, message=f"{tokens_text(outlook_.now)} tokens/s"),
        Vote(
            step="reserve",
            replicas=need.reserve,
            message=f"cold start {cold_start:.0f} s, times {need.factor:.2f} by forecast errors",
        ),
        Vote(step="burst floor", replicas=need.floor, message="on/off traffic" if need.floor else "not on/off"),
        Vote(step="queue saturation", replicas=need.queue_saturated, message="replicas busy with their own queue"),
    )
