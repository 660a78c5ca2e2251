"""The load one replica holds with at most 1 % of its requests over an objective: measured, and assumed until then."""

import dataclasses
import math
from collections.abc import Iterator, Mapping

from llmservice.autoscaling.capacity_line import Limits
from llmservice.autoscaling.memory import Capacity, Demand, ReplicaMinute, Violations
from llmservice.autoscaling.prompt_queue import late_share, least_busy
from llmservice.autoscaling.snapshot import Replica, Snapshot

_LEVEL_WIDTH = 0.05
"""Load levels of the violation curve are 5 % apart (natural logarithm of tokens/s)."""

_FADING = 1.001
"""A sample weighs this much more than one a reading earlier: after two hours a sample counts half."""

_LARGEST_WEIGHT = 1e6
_LEAST_REQUESTS = 0.01
"""Fewer at one level say nothing beside those that are assumed."""

_MINUTE = 6
_QUIET_READINGS = 12
_QUIET_QUEUE = 3
_LEAST_FINISHED = 5
_LEAST_LOAD = 0.1

_VIOLATION_SHARE = 0.0125
"""A little over the 1 % that is meant: a request that is late and slow is counted twice."""

_ASSUMED_REQUESTS = 400.0
_ASSUMED_KNEE = 1.04
_ASSUMED_SOFTNESS = 0.027
_NEGLIGIBLE = 12.0
"""So many softnesses below the knee no violation is assumed: it would be fewer than one in 100,000."""

_MARGIN = 0.92
"""Never more than this share of what the capacity line allows."""

_LEAST_SAFE = 0.3
_LEAST_SAFE_OF_LONG_PROMPTS = 0.2
_PATIENCE_WITH_LONG_PROMPTS = 20.0
_LEVELS_BEYOND = 5
"""The curve is fitted from the least load that is called safe to a little beyond the margin."""


def sampled(capacity: Capacity, demand: Demand, snapshot: Snapshot, limits: Limits) -> Capacity:
    """The capacity with one more reading of every replica, and a sample of each that ends a representative minute.

    A minute tells something only when the replica kept its queue short for two minutes, its halves agree within 30 %
    and arrivals were calm: otherwise requests that waited for earlier trouble would count against the present load.
    """
    minutes, weight = dict[str, ReplicaMinute](), capacity.violation_weight * _FADING
    violations, calm = capacity.violations, None
    within_objective = limits.within_objective
    for replica in snapshot.ready:
        minute = _with_reading(capacity.minutes.get(replica.name, _NO_MINUTE), replica)
        if minute.readings == _MINUTE:
            if calm is None:
                calm = _calm(demand)
            if calm and _representative(minute, within_objective):
                violations = _with_sample(violations, minute, weight)
            minute = ReplicaMinute(quiet=minute.quiet)
        minutes[replica.name] = minute
    return rescaled(dataclasses.replace(capacity, violations=violations, violation_weight=weight, minutes=minutes))


def rescaled(capacity: Capacity) -> Capacity:
    """The same, with a weight of new samples that can go on growing: about every day and a half it starts at 1 again.

    Samples faded to nothing are left out.
    """
    weight = capacity.violation_weight
    if weight <= _LARGEST_WEIGHT:
        return capacity
    violations = {
        level: Violations(old.requests / weight, old.over / weight) for level, old in capacity.violations.items()
    }
    kept = {level: seen for level, seen in violations.items() if seen.requests >= _LEAST_REQUESTS}
    return dataclasses.replace(capacity, violations=kept, violation_weight=1.0)


def safe_load(capacity: Capacity, limits: Limits) -> float:
    """X* in tokens/s: the largest load with at most 1.25 % over the objective, 0.3 to 0.92 of L, what the line allows.

    m(X) is the isotonic fit (pool adjacent violators, Ayer et al. 1955), over levels 5 % apart, of the measured
    requests and 400 assumed ones per level that miss by logistic((X - 1.04 L) / 0.027 L), or by waiting for other
    prompts (prompt_queue.py). Where prompts are long, the least is 0.2 L.
    """
    within, least = limits.within_objective, _least(limits)
    safe = least * within
    first = _level(safe)
    last = first + round(math.log(_MARGIN / least) / _LEVEL_WIDTH) + _LEVELS_BEYOND
    level = first - 1
    for requests, over, levels in _pooled(_violation_levels(capacity, first, last, limits)):
        level += levels
        if over > _VIOLATION_SHARE * requests:
            break
        safe = max(safe, math.exp(level * _LEVEL_WIDTH))
    return min(safe, _MARGIN * within)


def _least(limits: Limits) -> float:
    return _LEAST_SAFE if limits.patience > _PATIENCE_WITH_LONG_PROMPTS else _LEAST_SAFE_OF_LONG_PROMPTS


_NO_MINUTE = ReplicaMinute()


def _with_reading(minute: ReplicaMinute, replica: Replica) -> ReplicaMinute:
    flow = replica.flow
    if flow is None:
        return _NO_MINUTE
    tokens = flow.prompt_tokens + flow.generated_tokens
    return ReplicaMinute(
        minute.quiet + 1 if replica.waiting <= _QUIET_QUEUE else 0,
        minute.readings + 1,
        minute.seconds + flow.seconds,
        minute.first_half_tokens + tokens if minute.readings < _MINUTE // 2 else minute.first_half_tokens,
        minute.tokens + tokens,
        minute.finished + flow.finished,
        minute.over + min(flow.finished, flow.slo_violations),
    )


def _representative(minute: ReplicaMinute, within_objective: float) -> bool:
    halves_agree = 0.35 * minute.tokens < minute.first_half_tokens < 0.65 * minute.tokens
    loaded = minute.tokens >= _LEAST_LOAD * within_objective * minute.seconds
    return minute.quiet >= _QUIET_READINGS and minute.finished >= _LEAST_FINISHED and loaded and halves_agree


def _calm(demand: Demand) -> bool:
    """No reading of the last 90 s above 1.5 times their mean plus two standard deviations of Poisson arrivals."""
    recent = demand.loads[-9:]
    if len(demand.loads) < 13 or demand.sizes is None:  # noqa: PLR2004
        return False
    average = sum(recent) / len(recent)
    return max(recent) <= 1.5 * average + 2 * math.sqrt(0.15 * demand.sizes.tokens * average)


def _with_sample(
    violations: Mapping[int, Violations], minute: ReplicaMinute, weight: float
) -> Mapping[int, Violations]:
    level = _level(minute.tokens / minute.seconds)
    old = violations.get(level, Violations(0.0, 0.0))
    return {**violations, level: Violations(old.requests + weight * minute.finished, old.over + weight * minute.over)}


def _level(tokens_per_second: float) -> int:
    return round(math.log(max(tokens_per_second, 1.0)) / _LEVEL_WIDTH)


def _violation_levels(capacity: Capacity, first: int, last: int, limits: Limits) -> Iterator[tuple[float, float]]:
    """Requests and those over, measured (in weights of now) and assumed, of each level."""
    scale, negligible = 1.0 / capacity.violation_weight, _negligible(limits)
    for level in range(first, last + 1):
        seen, assumed = capacity.violations.get(level), 0.0
        if level > negligible:
            assumed = _ASSUMED_REQUESTS * _assumed_share(math.exp(level * _LEVEL_WIDTH), limits)
        if seen is None:
            yield _ASSUMED_REQUESTS, assumed
        else:
            yield _ASSUMED_REQUESTS + seen.requests * scale, assumed + seen.over * scale


def _assumed_share(load: float, limits: Limits) -> float:
    knee, softness = _ASSUMED_KNEE * limits.within_objective, _ASSUMED_SOFTNESS * limits.within_objective
    slow = 1 / (1 + math.exp(min(_NEGLIGIBLE, (knee - load) / softness)))
    return min(1.0, slow + late_share(load / limits.fastest, limits.patience))


def _negligible(limits: Limits) -> int:
    """The level up to which no violation is assumed: it would be fewer than one in 100,000."""
    slow = (_ASSUMED_KNEE - _NEGLIGIBLE * _ASSUMED_SOFTNESS) * limits.within_objective
    return _level(min(slow, least_busy(limits.patience) * limits.fastest))


def _pooled(levels: Iterator[tuple[float, float]]) -> list[tuple[float, float, int]]:
    """Neighbouring levels merged until the share over the objective never falls: requests, over, levels in each."""
    pools = list[tuple[float, float, int]]()
    for requests, over in levels:
        size = 1
        while pools and pools[-1][1] * requests >= over * pools[-1][0]:
            more = pools.pop()
            requests, over, size = requests + more[0], over + more[1], size + more[2]  # noqa: PLW2901
        pools.append((requests, over, size))
    return pools
