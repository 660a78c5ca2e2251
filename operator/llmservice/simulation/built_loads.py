"""Scenarios of long prompts, mixed lengths, a mix that changes, and calm days: what the recorded loads do not have."""

from llmservice.simulation.recipe import LARGE_ENGINE, LARGEST_ENGINE, SMALL_ENGINE, MakeLoad, Recipe
from llmservice.simulation.synthetic import Curve, Kind, arrivals_of, day

_HOUR: Curve = ((0, 0.5), (900, 0.8), (1800, 1.0), (2700, 0.7), (3900, 0.9))
"""An hour without surprises, and five minutes before it, as shares of its highest rate."""


def _made_of(*kinds: Kind) -> MakeLoad:
    return lambda _, seed: arrivals_of(kinds, seed=seed)


def _times(curve: Curve, factor: float) -> Curve:
    return [(at, factor * value) for at, value in curve]


BUILT = {
    "long-34b": Recipe(
        profile=LARGE_ENGINE,
        cold_start_seconds=120,
        first=1,
        maximum=24,
        warm_up_seconds=300,
        make=_made_of(Kind(prompt=20_000, answer=400, spread=0.2, rate=_times(_HOUR, 0.8))),
    ),
    "long-70b": Recipe(
        profile=LARGEST_ENGINE,
        cold_start_seconds=300,
        first=1,
        maximum=24,
        warm_up_seconds=300,
        make=_made_of(Kind(prompt=8000, answer=300, spread=0.2, rate=_times(_HOUR, 0.8))),
    ),
    "long-8b": Recipe(
        profile=SMALL_ENGINE,
        cold_start_seconds=60,
        first=3,
        maximum=24,
        warm_up_seconds=300,
        make=_made_of(Kind(prompt=12_000, answer=250, spread=0.4, rate=_times(_HOUR, 1.8))),
    ),
    "mixed-34b": Recipe(
        profile=LARGE_ENGINE,
        cold_start_seconds=120,
        first=3,
        maximum=24,
        warm_up_seconds=300,
        make=_made_of(
            Kind(prompt=900, answer=250, spread=0.7, rate=_times(_HOUR, 12.0)),
            Kind(prompt=11_000, answer=400, spread=0.4, rate=_times(_HOUR, 1.6)),
        ),
    ),
    "mixed-70b": Recipe(
        profile=LARGEST_ENGINE,
        cold_start_seconds=300,
        first=4,
        maximum=24,
        warm_up_seconds=300,
        make=_made_of(
            Kind(prompt=1000, answer=200, spread=0.7, rate=_times(_HOUR, 5.0)),
            Kind(prompt=6000, answer=300, spread=0.4, rate=_times(_HOUR, 0.6)),
        ),
    ),
    "shift-8b": Recipe(
        profile=SMALL_ENGINE,
        cold_start_seconds=120,
        first=3,
        maximum=24,
        make=_made_of(
            Kind(prompt=400, answer=600, spread=0.6, rate=((0, 8), (4500, 8), (8100, 2), (11_700, 2))),
            Kind(prompt=6000, answer=150, spread=0.4, rate=((0, 0), (4500, 0), (8100, 2.4), (11_700, 2.4))),
        ),
    ),
    "shift-34b": Recipe(
        profile=LARGE_ENGINE,
        cold_start_seconds=120,
        first=3,
        maximum=24,
        make=_made_of(
            Kind(prompt=800, answer=300, spread=0.7, rate=((0, 10), (4500, 14), (8100, 8), (11_700, 14))),
            Kind(
                prompt=9000, answer=350, spread=0.5, rate=((0, 0.1), (3600, 0.1), (5400, 1.6), (9000, 1.6), (11_700, 0))
            ),
        ),
    ),
    "slow-day-70b": Recipe(
        profile=LARGEST_ENGINE,
        cold_start_seconds=600,
        first=4,
        maximum=24,
        make=_made_of(Kind(prompt=1100, answer=210, spread=0.8, rate=day(hours=8, low=4.0, high=10.0))),
    ),
    "slow-day-34b": Recipe(
        profile=LARGE_ENGINE,
        cold_start_seconds=480,
        first=3,
        maximum=24,
        make=_made_of(Kind(prompt=2800, answer=500, spread=0.6, rate=day(hours=8, low=5.0, high=12.0))),
    ),
    "calm-day-8b": Recipe(
        profile=SMALL_ENGINE,
        cold_start_seconds=120,
        first=2,
        maximum=16,
        make=_made_of(Kind(prompt=1100, answer=210, spread=0.8, rate=day(hours=6, low=4.0, high=12.0))),
    ),
    "calm-day-34b": Recipe(
        profile=LARGE_ENGINE,
        cold_start_seconds=120,
        first=2,
        maximum=16,
        make=_made_of(Kind(prompt=2500, answer=400, spread=0.6, rate=day(hours=6, low=2.0, high=6.0))),
    ),
}
