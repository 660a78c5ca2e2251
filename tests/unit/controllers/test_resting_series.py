"""Series of services that may have no replica, and of no others."""

from tests.scenarios.scaled_world import ScaledWorld
from tests.scenarios.zero_world import ZeroWorld
from tests.unit.controllers.test_scaling_series import value


def test_a_service_that_sleeps_and_is_woken() -> None:
    world = ZeroWorld().sleeping()
    assert value(world, "llmservice_asleep") == 1
    assert value(world, "llmservice_wakes_total") == 0
    world.hold(2, answered=1)
    world.hold(3, answered=5, refused=2)
    world.tick(2)
    assert value(world, "llmservice_asleep") == 0
    assert value(world, "llmservice_wakes_total") == 1
    assert value(world, "llmservice_held_requests") == 3
    assert value(world, "llmservice_held_answered_total") == 4
    assert value(world, "llmservice_held_refused_total") == 2


def test_one_that_always_runs_has_none() -> None:
    world = ScaledWorld().scaled()
    assert value(world, "llmservice_asleep") is None
    assert value(world, "llmservice_wakes_total") is None
