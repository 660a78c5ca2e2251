"""Windows and paces: what is held, and how far one step goes."""

import pytest

from llmservice.autoscaling.memory import Stabilization
from llmservice.autoscaling.stabilization import (
    RateLimit,
    Targets,
    largest,
    rate_limited,
    stabilization_window_seconds,
    with_change,
    with_target,
)

PACE = RateLimit(period_seconds=60.0, down_share=0.5, down_replicas=1, up_share=1.0, up_replicas=4)


def held(*targets: tuple[float, int]) -> Targets:
    window: Targets = ()
    for at, target in targets:
        window = with_target(window, target, at, 300.0)
    return window


def test_holds_the_largest_target_of_the_window() -> None:
    assert largest(held((0, 5), (100, 2), (200, 3))) == 5


def test_forgets_a_target_after_the_window() -> None:
    assert largest(held((0, 5), (100, 3), (301, 2))) == 3


def test_keeps_only_targets_that_can_still_be_the_largest() -> None:
    assert held((0, 2), (100, 5), (200, 3)) == ((100, 5), (200, 3))


def test_goes_up_at_once() -> None:
    assert rate_limited(5, 5, 2, 0, (), PACE) == 5


@pytest.mark.parametrize(("running", "expected"), [(1, 5), (3, 7), (10, 20)])
def test_goes_up_by_no_more_than_the_pace(running: int, expected: int) -> None:
    assert rate_limited(30, 30, running, 0, (), PACE) == expected


def test_counts_steps_of_the_same_minute_together() -> None:
    assert rate_limited(30, 30, 4, 30, ((10, 3),), PACE) == 5  # began at 1: four more, not seven
    assert rate_limited(30, 30, 4, 80, ((10, 3),), PACE) == 8


@pytest.mark.parametrize(("running", "expected"), [(10, 5), (3, 2), (2, 1)])
def test_goes_down_by_no_more_than_the_pace(running: int, expected: int) -> None:
    assert rate_limited(1, 1, running, 0, (), PACE) == expected


def test_stays_between_target_and_what_is_kept() -> None:
    assert rate_limited(2, 5, 4, 100, (), PACE) == 4


def test_remembers_a_change_only_as_long_as_its_period() -> None:
    stabilization = with_change(with_change(Stabilization(), 2, 0.0, 60.0), -1, 50.0, 60.0)
    assert stabilization.changes == ((0.0, 2), (50.0, -1))
    assert with_change(stabilization, 0, 61.0, 60.0).changes == ((50.0, -1),)


def test_a_replica_is_kept_for_a_third_of_what_starting_one_takes() -> None:
    assert (stabilization_window_seconds(30.0), stabilization_window_seconds(300.0)) == (60.0, 90.0)
