"""Scenarios: each can be made, says what it needs, and repeats itself."""

import pytest

from llmservice.errors import UsageError
from llmservice.simulation.request import Arrival
from llmservice.simulation.scenarios import (
    HELD_OUT_LOADS,
    HELD_OUT_SEEDS,
    SCENARIOS,
    TRACKABLE,
    TUNING_LOADS,
    TUNING_SEEDS,
    scenario,
    trace_of,
)

TRACE = [Arrival(at / 3, 1000 + at % 7, 100) for at in range(1500)]


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_can_be_made(name: str) -> None:
    made = scenario(name, TRACE)
    assert made.minimum <= made.first <= made.maximum
    assert made.arrivals[-1].at > made.warm_up_seconds
    assert list(made.arrivals) == sorted(made.arrivals)


@pytest.mark.parametrize("name", [name for name in SCENARIOS if trace_of(name)])
def test_says_which_trace_it_needs(name: str) -> None:
    with pytest.raises(UsageError, match=f"{trace_of(name)} trace: give --trace"):
        scenario(name)


def test_a_seed_repeats_itself() -> None:
    assert scenario("aibrix-8b", seed=5) == scenario("aibrix-8b", seed=5)
    assert scenario("aibrix-8b", seed=5) != scenario("aibrix-8b", seed=6)


def test_an_unknown_scenario_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="ramp-34b"):
        scenario("diurnal")


def test_step_and_code_are_not_trackable() -> None:
    assert set(SCENARIOS[:7]) - set(TRACKABLE) == {"step", "code"}


def test_every_load_is_for_tuning_or_held_out_and_no_seed_is_both() -> None:
    assert sorted([*TUNING_LOADS, *HELD_OUT_LOADS]) == sorted(SCENARIOS)
    assert not set(TUNING_SEEDS) & set(HELD_OUT_SEEDS)
