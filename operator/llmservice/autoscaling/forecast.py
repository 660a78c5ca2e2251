"""What will arrive when a replica ordered now is ready, and how far such forecasts can be trusted."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from llmservice.autoscaling.arithmetic import clip, mean, nearing
from llmservice.autoscaling.demand import recent
from llmservice.autoscaling.memory import Demand, Forecast

_TREND_DAMPING = 0.3
_TREND_ERRORS = 3.0
_LEAST_READINGS = 18
"""Three minutes."""

_LEARNING = 0.15
_FORGETTING = 0.03
"""Weights of a larger and of a smaller error than the mean: trouble is learnt in minutes and remembered for longer."""

_HOURS_PER_JUDGEMENT = 1 / 120
_HOURS_REMEMBERED = 12.0
"""Two forecasts a minute are judged; how large their errors were is a mean over this long."""

_LARGEST_SURPRISE = 1e3
_LEAST_JUDGED = 20
_WORK_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Outlook:
    """Tokens/s: `ahead` one cold start from now, `now` measured, and the 60 s mean; `slope` in tokens/s per second."""

    ahead: float
    now: float
    last_minute: float
    slope: float


def outlook(demand: Demand, horizon_seconds: float, period_seconds: float) -> Outlook:
    """The load at the horizon (one cold start and one period from now) and at present.

    Level L = mean over W = clip(horizon / 2, 60 s, 300 s). Trend = slope of least squares over max(180 s, 2 W), only if
    over 3 standard errors, damped by 0.3, within -25 % to +60 % of L. Present = the last 60 s, or the last 30 s when
    that is 1.5 standard errors higher. Both errors are those of the readings before the last one: a last reading that
    is higher can then only raise the outlook, never make a trend look accidental.
    """
    loads, minute = demand.loads, 60.0 / period_seconds
    window = clip(0.5 * horizon_seconds, 60.0, 300.0)
    level, last_minute, half_minute = (recent(loads, n) for n in (window / period_seconds, minute, minute / 2))
    slope = 0.0
    if len(loads) > _LEAST_READINGS:
        span = round(max(180.0, 2 * window) / period_seconds)
        slope = _significant(loads[-span:], _line(loads[-span - 1 : -1])[1]) / period_seconds
    rise = clip(_TREND_DAMPING * slope * (horizon_seconds + window / 2), -0.25 * level, 0.6 * level)
    jumped = len(loads) > _LEAST_READINGS and half_minute > last_minute + 1.5 * _half_minute_error(loads)
    return Outlook(level + rise, max(last_minute, half_minute) if jumped else last_minute, last_minute, slope)


def _significant(values: Sequence[float], error: float) -> float:
    """The slope of the values per reading; 0 when it is within three standard errors of none."""
    slope, _ = _line(values)
    return slope if abs(slope) >= _TREND_ERRORS * error else 0.0


def _line(values: Sequence[float]) -> tuple[float, float]:
    """Slope per reading by least squares, and its standard error."""
    count, average = len(values), mean(values)
    middle, spread = (count - 1) / 2, count * (count * count - 1) / 12
    slope = sum((index - middle) * value for index, value in enumerate(values)) / spread
    rest = sum(value * value for value in values) - count * average * average - slope * slope * spread
    return slope, math.sqrt(max(1e-9, rest / (count - 2) / spread))


def _half_minute_error(loads: Sequence[int]) -> float:
    """Standard error of a mean of three readings, from the 18 before the last."""
    before = loads[-_LEAST_READINGS - 1 : -1]
    average = mean(before)
    return math.sqrt(sum((load - average) ** 2 for load in before) / len(before) / 3)


def judged(demand: Demand, ahead: float, horizon_seconds: float, now: float, safe_load: float) -> Demand:
    """The demand with this forecast noted (twice a minute), and those judged whose time has come.

    Errors are exponential means of |last minute - forecast| and |last minute - ordinary level then|; `surprise` is the
    mean square of what came beyond a forecast y, in the unit of the reserve: (H / 120 s) sqrt(y `safe_load`) tokens/s.
    """
    if demand.readings % 3 or not demand.half_minutes:
        return demand
    ordinary = _ordinary(demand)
    noted = Forecast(now, round(max(ahead, 0.02 * ordinary, 1.0)), round(ordinary))
    demand = dataclasses.replace(demand, forecasts=(*demand.forecasts, noted))
    came, unit = recent(demand.loads, 6), horizon_seconds / 120.0 * math.sqrt(safe_load)
    while demand.forecasts and demand.forecasts[0].at <= now - horizon_seconds:
        demand = _with_judgement(demand, came, unit)
    return demand


def _with_judgement(demand: Demand, came: float, unit: float) -> Demand:
    forecast, *later = demand.forecasts
    beyond = min(
        _LARGEST_SURPRISE,
        max(0.0, came - forecast.tokens_per_second) / (unit * math.sqrt(max(1, forecast.tokens_per_second))),
    )
    hours = min(demand.surprise_hours + _HOURS_PER_JUDGEMENT, _HOURS_REMEMBERED)
    return dataclasses.replace(
        demand,
        forecasts=tuple(later),
        error=_remembered(demand.error, abs(came - forecast.tokens_per_second), demand.judged),
        ordinary_error=_remembered(demand.ordinary_error, abs(came - forecast.ordinary), demand.judged),
        judged=demand.judged + 1,
        surprise=nearing(demand.surprise, beyond * beyond, _HOURS_PER_JUDGEMENT / hours),
        surprise_hours=hours,
    )


def _remembered(mean_error: float, error: float, judged_before: int) -> float:
    if not judged_before:
        return error
    return nearing(mean_error, error, _LEARNING if error > mean_error else _FORGETTING)


def _ordinary(demand: Demand) -> float:
    """The median of the hour's half minutes."""
    ranked = sorted(demand.half_minutes)
    middle = len(ranked) // 2
    return (ranked[middle] + ranked[~middle]) / 2


def burstiness(demand: Demand) -> float:
    """How much the traffic is on/off, 0–1: forecasts fail by a lot, and no better than expecting the ordinary hour.

    e1, e2 = errors of the forecast and of the ordinary level; w = 1 / (1 + (e1 / e2)^4);
    strength = clip(2 - 4 w, 0, 1) × clip((e1 / mean load - 0.4) / 0.3, 0, 1). 0 until ten minutes were judged.
    """
    if demand.judged < _LEAST_JUDGED or not demand.half_minutes:
        return 0.0
    ratio = demand.error / max(1e-9, demand.ordinary_error)
    average = max(1e-9, mean(demand.half_minutes))
    return clip(2 - 4 / (1 + ratio**4), 0.0, 1.0) * clip((demand.error / average - 0.4) / 0.3, 0.0, 1.0)


def working_level(demand: Demand) -> float:
    """The load (tokens/s) below which 90 % of the last hour's work arrived: half minutes weighted by their own load."""
    ranked = sorted(demand.half_minutes)
    rest = _WORK_SHARE * sum(ranked)
    for load in ranked:
        rest -= load
        if rest <= 0:
            return load
    return ranked[-1]
