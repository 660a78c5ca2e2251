"""How fast one replica can go: its decode steps per second fall along a straight line as its tokens per second rise."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from llmservice.autoscaling.arithmetic import nearing
from llmservice.autoscaling.memory import Capacity, LinePoint, Sizes
from llmservice.autoscaling.policy import Objective, Roofline, ScalingPolicy
from llmservice.autoscaling.prompt_queue import patience
from llmservice.autoscaling.snapshot import Flow, Replica, Snapshot

_LEVEL_WIDTH = 0.18
"""Load levels of the line are this far apart (natural logarithm of tokens/s): 18 %."""

_LEAST_GAPS = 30
"""Readings with fewer intervals between tokens say too little of the step time."""

_READINGS_REMEMBERED = 60
_READINGS_TRUSTED = 6.0
"""A level counts at most as six readings in the fit, so that a long stay at one level does not outvote the others."""

_KV_USE_TELLING = 0.05
"""Below this use the KV gauge is too coarse to learn from."""

_SIZE_SPREAD = 1.5
"""Variance of a request's tokens over the square of their mean, for chat traffic."""


@dataclass(frozen=True, slots=True)
class Line:
    """steps/s = `unloaded` - `slope` × tokens/s, of one replica."""

    unloaded: float
    slope: float


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens/s of one replica: `within_objective` for a single request, `saturated` at most, and what bounds it."""

    within_objective: float
    saturated: float
    by_latency: float
    by_memory: float
    patience: float
    fastest: float


def learnt(capacity: Capacity, snapshot: Snapshot) -> Capacity:
    """The capacity with this snapshot's readings: X = tokens/s and f = 1 / mean gap between tokens, per replica.

    Each level keeps exponential means of X and f (weight 1/n, at least 1/61). The KV use per token and step comes from
    use = c × generated tokens/s / f.
    """
    line, kv_per_token = dict(capacity.line), capacity.kv_per_token
    for replica in snapshot.ready:
        flow = replica.flow
        if (
            flow is None
            or not flow.inter_token_count
            or not flow.inter_token_seconds
            or flow.inter_token_count < _LEAST_GAPS
            or flow.tokens_per_second <= 0
        ):
            continue
        steps = flow.inter_token_count / flow.inter_token_seconds
        level = _level(flow.tokens_per_second)
        line[level] = _with_reading(line.get(level), flow.tokens_per_second, steps)
        kv_per_token = _kv_per_token(kv_per_token, replica, flow, steps)
    return dataclasses.replace(capacity, line=line, kv_per_token=kv_per_token)


def _level(tokens_per_second: float) -> int:
    return int(math.log(max(tokens_per_second, 1.0)) / _LEVEL_WIDTH)


def _with_reading(point: LinePoint | None, tokens: float, steps: float) -> LinePoint:
    if point is None:
        return LinePoint(tokens, steps, 1.0)
    weight = 1.0 / min(point.readings + 1, _READINGS_REMEMBERED)
    return LinePoint(
        nearing(point.tokens_per_second, tokens, weight),
        nearing(point.steps_per_second, steps, weight),
        min(point.readings + 1, _READINGS_REMEMBERED),
    )


def _kv_per_token(old: float, replica: Replica, flow: Flow, steps: float) -> float:
    if replica.kv_use is None or replica.kv_use <= _KV_USE_TELLING or flow.generated_tokens <= 0:
        return old
    seen = replica.kv_use * steps * flow.seconds / flow.generated_tokens
    return nearing(old, seen, 0.03) if old else seen


def with_measured(line: Mapping[int, LinePoint], measured: Iterable[LinePoint]) -> Mapping[int, LinePoint]:
    """The levels that were learnt, and those of a bench where none was: a reading of their own takes their place."""
    return {_level(point.tokens_per_second): point for point in measured} | dict(line)


def mostly_measured(line: Mapping[int, LinePoint], measured: Sequence[LinePoint]) -> bool:
    """Whether more of the line is by the bench than by the engine's own readings."""
    learnt_levels = sum(min(point.readings, _READINGS_TRUSTED) for point in line.values())
    return len(measured) > learnt_levels


def fitted(line: Mapping[int, LinePoint], roofline: Roofline | None) -> Line | None:
    """Weighted least squares over the levels and two weak points of the roofline; None while that is fewer than two.

    Where the points do not fall (one level only, or noise), the line starts 25 % above the fastest point and passes
    the most loaded one.
    """
    points = [(p.tokens_per_second, p.steps_per_second, min(p.readings, _READINGS_TRUSTED)) for p in line.values()]
    points += _roofline_points(roofline, sum(p.readings for p in line.values())) if roofline else ()
    if len(points) < 2:  # noqa: PLR2004
        return None
    weight = sum(w for _, _, w in points)
    mean_x = sum(x * w for x, _, w in points) / weight
    mean_y = sum(y * w for _, y, w in points) / weight
    spread = sum(w * (x - mean_x) ** 2 for x, _, w in points)
    slope = -sum(w * (x - mean_x) * (y - mean_y) for x, y, w in points) / spread if spread else 0.0
    unloaded = mean_y + slope * mean_x
    if slope > 0 and unloaded > 0:
        return Line(unloaded, slope)
    x, y, _ = max(points)
    fastest = max(y for _, y, _ in points) * 1.25
    return Line(fastest, (fastest - y) / max(1.0, x))


def _roofline_points(roofline: Roofline, readings: float) -> tuple[tuple[float, float, float], ...]:
    """65 % of the rate the weights can be read at without load; 30 % of that at 35 % of the peak operations.

    Their weight falls from 1 to 0.0225 as readings come in.
    """
    unloaded = 0.65 * roofline.bytes_per_second / roofline.weight_bytes
    saturated = 0.5 * roofline.operations_per_second / (2 * roofline.parameters)
    weight = max(0.15, 1.0 / (1 + 0.02 * readings)) ** 2
    return (0.0, unloaded, weight), (0.7 * saturated, 0.3 * unloaded, weight)


def limits(line: Line, capacity: Capacity, sizes: Sizes, policy: ScalingPolicy) -> Limits:
    """The loads at which one replica reaches an objective or a wall.

    By latency: f = 1 / TPOT, so X = (f0 - 1 / TPOT) / k. By slots S and by KV use c g X / f = 0.97 (g = generated
    share of the tokens): X = S f0 / (g + S k) and 0.97 f0 / (c g + 0.97 k). At most 0.95 f0 / k.

    The line is about means; a single request feels the n = X / w × (G TPOT + TTFT) requests that share its lifetime
    (w, G = mean and generated tokens), whose tokens vary by sqrt(1.5 / n): so X / (1 + sqrt(1.5 / n)).
    """
    f0, k, objective = line.unloaded, line.slope, policy.objective
    by_memory = _by_memory(line, capacity, sizes, policy.slots)
    by_latency = (f0 - 1.0 / objective.tpot_seconds) / k
    if by_latency <= 0:
        by_latency = 0.2 * f0 / k
    mean_limit = min(by_latency, by_memory, 0.95 * f0 / k)
    return Limits(
        within_objective=mean_limit / (1 + math.sqrt(_SIZE_SPREAD / _companions(mean_limit, sizes, objective))),
        saturated=min(0.9 * f0 / k, by_memory),
        by_latency=by_latency,
        by_memory=by_memory,
        patience=patience(sizes.prompt, f0 / k, objective.ttft_seconds),
        fastest=f0 / k,
    )


def _by_memory(line: Line, capacity: Capacity, sizes: Sizes, slots: int) -> float:
    f0, k, share = line.unloaded, line.slope, sizes.answer / sizes.tokens
    by_slots = slots * f0 / (share + slots * k)
    by_kv = 0.97 * f0 / (capacity.kv_per_token * share + 0.97 * k) if capacity.kv_per_token else by_slots
    return min(by_slots, by_kv)


def _companions(tokens_per_second: float, sizes: Sizes, objective: Objective) -> float:
    """Requests that share one request's lifetime on a replica."""
    lifetime = sizes.answer * objective.tpot_seconds + objective.ttft_seconds
    return max(1.0, tokens_per_second / sizes.tokens * lifetime)
