"""Minutes of load on small engines, played in well under a second."""

from collections.abc import Sequence

from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.simulation.peers.trial import Trial
from llmservice.simulation.request import Arrival
from llmservice.simulation.scenarios import Scenario
from llmservice.simulation.traces import piecewise

RISING = ((0, 0.5), (300, 0.5), (500, 6), (700, 6), (900, 0.5), (1200, 0.5))
"""Seconds and requests per second."""


def some_load(*, seed: int = 1) -> list[Arrival]:
    return piecewise(RISING, prompt=(3000, 500), output=(200, 50), seed=seed)


def a_trial(arrivals: Sequence[Arrival] | None = None, *, maximum: int = 8, warm_up: float = 0.0) -> Trial:
    return Trial(
        setting=Scenario(
            profile="h100-34b-tp2",
            arrivals=some_load() if arrivals is None else arrivals,
            warm_up_seconds=warm_up,
            cold_start_seconds=60.0,
            first=1,
            minimum=1,
            maximum=maximum,
        ),
        policy=ScalingPolicy(minimum=1, maximum=maximum),
    )
