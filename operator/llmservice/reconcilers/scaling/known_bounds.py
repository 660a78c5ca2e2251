"""The bounds that schedules set, found once for as long as they hold."""

from dataclasses import dataclass

from llmservice.autoscaling.schedules import Bounds, bounds_at
from llmservice.planning.scaling_plan import ScalingPlan

_KNOWN_SECONDS = 86_400.0
"""Bounds that nothing follows are looked at again after a day: they were looked for a week ahead."""


@dataclass(slots=True)
class KnownBounds:
    """What holds by the schedules of one plan, and since when (seconds since 1970) that is known."""

    _known: tuple[ScalingPlan, float, Bounds] | None = None

    def at(self, scaling: ScalingPlan, now: float) -> Bounds:
        """The bounds of this plan at `now`."""
        if self._known is not None:
            plan, since, bounds = self._known
            if plan is scaling and since <= now < (bounds.until or since + _KNOWN_SECONDS):
                return bounds
        self._known = scaling, now, bounds_at(scaling, now)
        return self._known[2]
