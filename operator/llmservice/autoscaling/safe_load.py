"""The load one replica holds with at most 1 % of its requests over an objective: measured, and assumed until then."""

import dataclasses
import math
from collections.abc import Iterator, Mapping

from llmservice.autoscaling.capacity_line import Limits
from llmservice.autoscaling.memory import Capacity, Demand, Violations, Watch
from llmservice.autoscaling.prompt_queue import with_waiting
from llmservice.autoscaling.snapshot import Replica, Snapshot

_LEVEL_WIDTH = 0.05
"""Load levels of the miss curve are 5 % apart (natural logarithm of tokens/s)."""

_FADING = 1.001
"""A sample weighs this much more than one a reading earlier: after two hours a sample counts half."""

_LARGEST_WEIGHT = 1e6
_LEAST_REQUESTS = 0.01
"""Fewer at one level say nothing beside those that are assumed."""

_MINUTE = 6
_QUIET_READINGS = 6
_QUIET_DURING = False
_QUIET_QUEUE = 3
_LEAST_FINISHED = 5
_LEAST_LOAD = 0.2

_VIOLATION_SHARE = 0.01
_ASSUMED_REQUESTS = 400.0
_ASSUMED_KNEE = 1.04
_ASSUMED_SOFTNESS = 0.027
_NEGLIGIBLE = 12.0
"""So many softnesses below the knee no miss is assumed: it would be fewer than one in 100,000."""

_MARGIN = 0.92
"""Never more than this share of what the capacity line allows."""

_LEAST_SAFE = 0.3
_LEVELS_BEYOND = 5
"""The curve is fitted from the least load that is called safe to a little beyond the margin."""


def sampled(capacity: Capacity, demand: Demand, snapshot: Snapshot, limits: Limits) -> Capacity:
    """The capacity with one more reading of every replica, and a sample of each that ends a telling minute.

    A minute tells something only when the replica kept its queue short for two minutes, its halves agree within 30 %
    and arrivals were calm: otherwise requests that waited for earlier trouble would count against the present load.
    """
    watches, weight = dict[str, Watch](), capacity.violation_weight * _FADING
    violations, calm = capacity.violations, None
    within_objective = limits.within_objective
    for replica in snapshot.ready:
        watch = _watched(capacity.watches.get(replica.name, _UNWATCHED), replica)
        if watch.readings == _MINUTE:
            if calm is None:
                calm = _calm(demand)
            if calm and _telling(watch, within_objective):
                violations = _with_sample(violations, watch, weight)
                capacity = _with_waiting(capacity, demand, watch, limits)
            watch = Watch(quiet=watch.quiet, quiet_before=watch.quiet)
        watches[replica.name] = watch
    return rescaled(
        dataclasses.replace(capacity, violations=violations, violation_weight=weight, watches=watches)
    )


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


def _with_waiting(capacity: Capacity, demand: Demand, watch: Watch, limits: Limits) -> Capacity:
    if demand.sizes is None:
        return capacity
    return with_waiting(
        capacity,
        prompts=watch.first_token_count,
        ttft_seconds=watch.ttft_seconds,
        busy=watch.tokens / watch.seconds / limits.fastest,
        reading=demand.sizes.prompt / limits.fastest,
    )


def safe_load(capacity: Capacity, within_objective: float) -> float:
    """X* in tokens/s: the largest load with at most 1 % over the objective, 0.3 to 0.92 of what the line allows.

    m(X) is the isotonic fit (pool adjacent violators, Ayer et al. 1955), over levels 5 % apart, of the measured
    requests and 400 assumed ones per level that miss by logistic((X - 1.04 L) / 0.027 L), L = `within_objective`.
    """
    safe = _LEAST_SAFE * within_objective
    first = _level(safe)
    last = first + round(math.log(_MARGIN / _LEAST_SAFE) / _LEVEL_WIDTH) + _LEVELS_BEYOND
    level = first - 1
    for requests, over, levels in _pooled(_violation_levels(capacity, first, last, within_objective)):
        level += levels
        if over > _VIOLATION_SHARE * requests:
            break
        safe = max(safe, math.exp(level * _LEVEL_WIDTH))
    return min(safe, _MARGIN * within_objective)


_UNWATCHED = Watch()


def _watched(watch: Watch, replica: Replica) -> Watch:
    flow = replica.flow
    if flow is None:
        return _UNWATCHED
    tokens = flow.prompt_tokens + flow.generated_tokens
    return Watch(
        watch.quiet + 1 if replica.waiting <= _QUIET_QUEUE else 0,
        watch.readings + 1,
        watch.seconds + flow.seconds,
        watch.first_tokens + tokens if watch.readings < _MINUTE // 2 else watch.first_tokens,
        watch.tokens + tokens,
        watch.finished + flow.finished,
        watch.over + min(flow.finished, flow.slo_violations),
        watch.first_token_count + (flow.first_tokens or 0.0),
        watch.ttft_seconds + (flow.ttft_seconds or 0.0),
        watch.quiet_before,
    )


def _telling(watch: Watch, within_objective: float) -> bool:
    halves_agree = 0.35 * watch.tokens < watch.first_tokens < 0.65 * watch.tokens
    loaded = watch.tokens >= _LEAST_LOAD * within_objective * watch.seconds
    quiet = watch.quiet >= 12 if _QUIET_DURING else watch.quiet_before >= _QUIET_READINGS
    return quiet and watch.finished >= _LEAST_FINISHED and loaded and halves_agree


def _calm(demand: Demand) -> bool:
    """No reading of the last 90 s above 1.5 times their mean plus two standard deviations of Poisson arrivals."""
    recent = demand.loads[-9:]
    if len(demand.loads) < 13 or demand.sizes is None:  # noqa: PLR2004
        return False
    average = sum(recent) / len(recent)
    return max(recent) <= 1.5 * average + 2 * math.sqrt(0.15 * demand.sizes.tokens * average)


def _with_sample(violations: Mapping[int, Violations], watch: Watch, weight: float) -> Mapping[int, Violations]:
    level = _level(watch.tokens / watch.seconds)
    old = violations.get(level, Violations(0.0, 0.0))
    return {**violations, level: Violations(old.requests + weight * watch.finished, old.over + weight * watch.over)}


def _level(tokens_per_second: float) -> int:
    return round(math.log(max(tokens_per_second, 1.0)) / _LEVEL_WIDTH)


def _violation_levels(
    capacity: Capacity, first: int, last: int, within_objective: float
) -> Iterator[tuple[float, float]]:
    """Requests and those over, measured (in weights of now) and assumed, of each level."""
    knee, softness = _ASSUMED_KNEE * within_objective, _ASSUMED_SOFTNESS * within_objective
    scale, worth_computing = 1.0 / capacity.violation_weight, _level(knee - _NEGLIGIBLE * softness)
    for level in range(first, last + 1):
        seen, assumed = capacity.violations.get(level), 0.0
        if level > worth_computing:
            assumed = _ASSUMED_REQUESTS / (1 + math.exp((knee - math.exp(level * _LEVEL_WIDTH)) / softness))
        if seen is None:
            yield _ASSUMED_REQUESTS, assumed
        else:
            yield _ASSUMED_REQUESTS + seen.requests * scale, assumed + seen.over * scale


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
