"""Engine tables: interpolation between measured points, and names that do not exist."""

from itertools import pairwise

import pytest

from llmservice.errors import UsageError
from llmservice.simulation.engine_profile import engine_profile, engine_profiles


def test_step_times_follow_the_measured_points() -> None:
    profile = engine_profile("a100-8b")
    assert profile.step_seconds[1] == pytest.approx((9.808 + 2.0) / 1e3)
    assert profile.step_seconds[2048] == pytest.approx((143.872 + 2.0) / 1e3)


def test_between_two_points_time_is_a_straight_line() -> None:
    steps = engine_profile("a100-8b").step_seconds
    assert steps[24] == pytest.approx((steps[16] + steps[32]) / 2)


@pytest.mark.parametrize("name", sorted(engine_profiles()))
def test_more_tokens_never_take_less_time(name: str) -> None:
    steps = engine_profile(name).step_seconds
    assert all(few <= more for few, more in pairwise(steps))


def test_an_unknown_table_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="h100-34b-tp2"):
        engine_profile("h100")
