"""Suspended and resumed: never more replicas than the resource may cost by then."""

import pytest

from tests.scenarios.scaled_world import RUNNING, ScaledWorld


@pytest.mark.parametrize("mode", ["Active", "Advise"])
@pytest.mark.parametrize(("maximum", "resumed"), [(2, 2), (8, 5)])
def test_what_ran_before_is_resumed_within_the_bounds_of_the_spec(mode: str, maximum: int, resumed: int) -> None:
    world = ScaledWorld().scaled()
    world.source.running = 24.0
    world.tick()
    assert world.replicas == 5
    world.apply(spec__suspend=True, spec__autoscaling={"maxReplicas": 8, **RUNNING})
    world.reconcile()
    world.settle()
    world.tick()
    world.apply(spec__autoscaling={"maxReplicas": maximum, "mode": mode, **RUNNING})
    world.reconcile()
    assert world.replicas == resumed
