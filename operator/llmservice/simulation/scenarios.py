"""Named loads that every change of the law is measured on, each with the service it runs on."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from llmservice.errors import UsageError
from llmservice.simulation.built_loads import BUILT
from llmservice.simulation.recipe import LARGE_ENGINE, LARGEST_ENGINE, SMALL_ENGINE, MakeLoad, Recipe
from llmservice.simulation.request import Arrival
from llmservice.simulation.traces import Stage, multiplied, piecewise, staged, warmed_up

_LLM_D_RAMP: tuple[Stage, ...] = ((2, 330), (4, 360), (6, 360), (8, 360), (10, 360), (4, 360), (1, 300))
"""The ramp of llm-d's autoscaling guide (README.slo-aware.md), 4000 prompt and 1000 output tokens per request."""

_RAMP_WARM_UP: tuple[Stage, ...] = ((2, 285), (6, 285), (9, 285), (3, 285), (0.05, 900))

_STEPS: tuple[Stage, ...] = ((2, 600), (9, 900), (2, 900), (9, 900))

_AIBRIX = ((0, 1), (170, 4), (340, 8), (500, 10), (700, 10), (800, 2), (950, 2), (1500, 6))
"""AIBrix's 25-minute scenario as its documentation describes it: (seconds, requests per second)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A load and the service under it; the first `warm_up_seconds` are neither scored nor billed."""

    profile: str
    arrivals: Sequence[Arrival] = field(repr=False)
    warm_up_seconds: float
    cold_start_seconds: float
    first: int
    minimum: int
    maximum: int


def _conversation(factor: float) -> MakeLoad:
    return lambda trace, seed: warmed_up(multiplied(trace, factor, seed=seed), 900)


def _ramp(_: Sequence[Arrival], __: int) -> Sequence[Arrival]:
    return staged((*_RAMP_WARM_UP, *_LLM_D_RAMP), prompt=4000, output=1000)


def _steps(_: Sequence[Arrival], seed: int) -> Sequence[Arrival]:
    return staged(_STEPS, prompt=4000, output=1000, seed=seed)


def _aibrix(_: Sequence[Arrival], seed: int) -> Sequence[Arrival]:
    points = tuple((at, 3.0 * rate) for at, rate in _AIBRIX)
    return warmed_up(piecewise(points, prompt=(1024, 350), output=(200, 80), seed=seed), 600, like_first=60)


_RECIPES = {
    "conv-34b": Recipe(
        profile=LARGE_ENGINE, cold_start_seconds=120, first=5, maximum=32, make=_conversation(8), trace="conv"
    ),
    "conv-70b": Recipe(
        profile=LARGEST_ENGINE, cold_start_seconds=300, first=8, maximum=32, make=_conversation(2.5), trace="conv"
    ),
    "conv-8b": Recipe(
        profile=SMALL_ENGINE, cold_start_seconds=60, first=7, maximum=32, make=_conversation(8), trace="conv"
    ),
    "ramp-34b": Recipe(
        profile=LARGE_ENGINE, cold_start_seconds=100, first=3, minimum=3, maximum=8, make=_ramp, warm_up_seconds=2040
    ),
    "aibrix-8b": Recipe(
        profile=SMALL_ENGINE, cold_start_seconds=120, first=1, maximum=16, make=_aibrix, warm_up_seconds=600
    ),
    "step": Recipe(profile=LARGE_ENGINE, cold_start_seconds=120, first=2, maximum=16, make=_steps, warm_up_seconds=0),
    "code": Recipe(
        profile=LARGE_ENGINE, cold_start_seconds=120, first=5, maximum=32, make=_conversation(4), trace="code"
    ),
    **BUILT,
}

SCENARIOS = tuple(_RECIPES)
TRACKABLE = SCENARIOS[:5]
"""Recorded loads that change slowly enough for a cold start: the ones that must meet the objective."""

TUNING_LOADS = (
    *TRACKABLE,
    "step",
    "code",
    "long-34b",
    "long-70b",
    "mixed-34b",
    "shift-8b",
    "slow-day-70b",
    "calm-day-8b",
)
HELD_OUT_LOADS = ("long-8b", "mixed-70b", "shift-34b", "slow-day-34b", "calm-day-34b")
"""Constants of the laws are chosen by looking at the former, with the tuning seeds; never at the latter."""

TUNING_SEEDS = (0, 2)
HELD_OUT_SEEDS = (11, 13, 15)
"""Held-out seeds are those of every load; of the recorded ones no figure was looked at while constants were chosen."""


def trace_of(name: str) -> str:
    """Which Azure 2023 trace a scenario needs: conv, code, or empty. Raises UsageError for an unknown scenario."""
    return _recipe(name).trace


def scenario(name: str, trace: Sequence[Arrival] = (), *, seed: int = 0) -> Scenario:
    """The scenario of this name, made from the recorded trace it needs. Raises UsageError."""
    recipe = _recipe(name)
    if recipe.trace and not trace:
        raise UsageError("TraceMissing", f"{name} is made from the Azure 2023 {recipe.trace} trace: give --trace")
    return Scenario(
        profile=recipe.profile,
        arrivals=recipe.make(trace, seed),
        warm_up_seconds=recipe.warm_up_seconds,
        cold_start_seconds=recipe.cold_start_seconds,
        first=recipe.first,
        minimum=recipe.minimum,
        maximum=recipe.maximum,
    )


def _recipe(name: str) -> Recipe:
    if name not in _RECIPES:
        raise UsageError("UnknownScenario", f"no scenario {name!r}: choose one of {', '.join(SCENARIOS)}")
    return _RECIPES[name]
