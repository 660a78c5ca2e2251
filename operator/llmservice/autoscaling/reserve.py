"""What is kept beyond the load: a share of one replica, square-root staffing, and a floor for on/off traffic."""

import math
from dataclasses import dataclass

from llmservice.autoscaling.arithmetic import clip
from llmservice.autoscaling.policy import Reserve


@dataclass(frozen=True, slots=True, kw_only=True)
class Cushion:
    """The two constants of a reserve, in replicas: `fixed`, and `per_root` at a cold start of 120 s."""

    fixed: float
    per_root: float


CUSHIONS = {
    Reserve.ECONOMY: Cushion(fixed=0.25, per_root=0.1),
    Reserve.BALANCED: Cushion(fixed=0.35, per_root=0.21),
    Reserve.SAFE: Cushion(fixed=0.9, per_root=0.35),
}


_COVER = 1.2
"""Reserve in root mean squares of what came beyond the forecasts; r0 and rounding up cover the rest."""

_ASSUMED_HOURS = 0.5
_HOURS_THAT_SAY_NOTHING = 1.0
"""One hour holds too few independent cold starts to know better than the constants."""

_LEAST_FACTOR, _LARGEST_FACTOR = 0.3, 1.5


def reserve(load: float, cold_start_seconds: float, cushion: Cushion, factor: float) -> float:
    """Replicas beyond a load of `load` replicas: r0 + factor beta (H / 120 s) sqrt(load).

    Square-root staffing (Halfin and Whitt 1981) covers the spread of independent arrivals; the longer a new replica
    takes, the further the load has drifted when it is there.
    """
    return cushion.fixed + factor * cushion.per_root * cold_start_seconds / 120.0 * math.sqrt(load)


def forecast_factor(surprise: float, hours: float, cushion: Cushion) -> float:
    """0.3 to 1.5: less reserve when forecasts have been right for hours, more when they were wrong.

    sqrt((0.5 h + t q) / (0.5 h + t)) after 1 h + t of judged forecasts, q = (1.2 / beta)^2 `surprise`: how the square
    of the reserve that forecasts turned out to need compares with that of the constants.
    """
    weight, ratio = max(0.0, hours - _HOURS_THAT_SAY_NOTHING), (_COVER / cushion.per_root) ** 2 * surprise
    squared = (_ASSUMED_HOURS + weight * ratio) / (_ASSUMED_HOURS + weight)
    return clip(math.sqrt(squared), _LEAST_FACTOR, _LARGEST_FACTOR)


def burst_floor(strength: float, working_replicas: float, cushion: Cushion) -> float:
    """Replicas never to go below while traffic is on/off: strength × (what 90 % of the work needs) + r0."""
    return strength * working_replicas + cushion.fixed if strength > 0 else 0.0
