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


def reserve(load: float, cold_start_seconds: float, cushion: Cushion, factor: float = 1.0) -> float:
    """Replicas beyond a load of `load` replicas: r0 + beta (H / 120 s) sqrt(load).

    Square-root staffing (Halfin and Whitt 1981) covers the spread of independent arrivals; the longer a new replica
    takes, the further the load has drifted when it is there.
    """
    return cushion.fixed + factor * cushion.per_root * cold_start_seconds / 120.0 * math.sqrt(load)


_PRIOR_HOURS = 0.5
_GRACE_HOURS = 1.0
_COVER = 1.2
_LEAST, _MOST = 0.3, 1.5


def trust(surprise: float, hours: float, cushion: Cushion) -> float:
    """By how much the part of the reserve that grows with the load is multiplied, 0.3 to 1.5."""
    seen = (_COVER / cushion.per_root) ** 2 * surprise
    weight = max(0.0, hours - _GRACE_HOURS)
    return clip(math.sqrt((_PRIOR_HOURS + weight * seen) / (_PRIOR_HOURS + weight)), _LEAST, _MOST)


def burst_floor(strength: float, working_replicas: float, cushion: Cushion) -> float:
    """Replicas never to go below while traffic is on/off: strength × (what 90 % of the work needs) + r0."""
    return strength * working_replicas + cushion.fixed if strength > 0 else 0.0
