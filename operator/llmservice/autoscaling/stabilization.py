"""What keeps decisions calm: up at once or at a limited rate, down only after the window and step by step."""

import dataclasses
from dataclasses import dataclass

from llmservice.autoscaling.memory import Stabilization

Targets = tuple[tuple[float, int], ...]
"""(at, replicas), oldest first."""

_HOLD_SHARE = 0.3
_LEAST_HOLD_SECONDS = 60.0

_LONG_HOLD_SECONDS = 1800.0
"""What is kept only for calm is given up after this long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """Steps within `period_seconds` add up to no more than the larger of a share (0–1) and a number of replicas."""

    down_share: float
    down_replicas: int
    up_share: float
    up_replicas: int
    period_seconds: float


DEFAULT_RATE_LIMIT = RateLimit(period_seconds=30.0, down_share=0.34, down_replicas=1, up_share=1.0, up_replicas=1 << 16)
"""Up without limit, down by at most a third in half a minute."""


def stabilization_window_seconds(cold_start_seconds: float) -> float:
    """How long a replica that is not needed is kept: a third of what starting it again takes, at least a minute."""
    return max(_LEAST_HOLD_SECONDS, _HOLD_SHARE * cold_start_seconds)


def with_target(targets: Targets, target: int, now: float, window_seconds: float) -> Targets:
    """The targets of the window with that of now: older ones that are no larger can never be the largest again."""
    return (*((at, old) for at, old in targets if at >= now - window_seconds and old > target), (now, target))


def with_both(
    stabilization: Stabilization, ample: int, enough: int, now: float, window_seconds: float
) -> Stabilization:
    """The stabilization with what is ample now, of the window, and what is enough, of half an hour at least."""
    return dataclasses.replace(
        stabilization,
        targets=with_target(stabilization.targets, ample, now, window_seconds),
        needs=with_target(stabilization.needs, enough, now, max(window_seconds, _LONG_HOLD_SECONDS)),
    )


def largest(targets: Targets) -> int:
    """The largest target of the window."""
    return targets[0][1]


def rate_limited(target: int, keep: int, running: int, now: float, changes: Targets, limit: RateLimit) -> int:
    """Replicas to run next: up to `target`, down to `keep`, as the rate limit allows after the latest changes.

    Steps count from the number at the beginning of the period, as in the HorizontalPodAutoscaler's scaling policies.
    """
    steps = [step for at, step in changes if at > now - limit.period_seconds]
    if target > running:
        start = running - sum(step for step in steps if step > 0)
        return min(target, max(running, start + max(int(start * limit.up_share), limit.up_replicas)))
    if keep < running:
        start = running - sum(step for step in steps if step < 0)
        return max(keep, min(running, start - max(int(start * limit.down_share), limit.down_replicas)))
    return running


def with_change(stabilization: Stabilization, step: int, now: float, period_seconds: float) -> Stabilization:
    """The stabilization with what was decided now, for the rate limits."""
    changes = tuple(change for change in stabilization.changes if change[0] > now - period_seconds)
    return dataclasses.replace(stabilization, changes=(*changes, (now, step)) if step else changes)
