"""Reserve and burst floor."""

import pytest

from llmservice.autoscaling.policy import Reserve
from llmservice.autoscaling.reserve import CUSHIONS, Cushion, burst_floor, reserve

CUSHION = Cushion(fixed=0.5, per_root=0.2)


@pytest.mark.parametrize(
    ("load", "cold_start", "replicas"), [(0.0, 120.0, 0.5), (4.0, 120.0, 0.9), (4.0, 300.0, 1.5), (16.0, 60.0, 0.9)]
)
def test_is_a_fixed_share_and_the_root_of_the_load(load: float, cold_start: float, replicas: float) -> None:
    assert reserve(load, cold_start, CUSHION) == pytest.approx(replicas)


def test_safe_keeps_more_than_balanced_and_balanced_more_than_economy() -> None:
    kept = [reserve(4.0, 120.0, CUSHIONS[kind]) for kind in (Reserve.ECONOMY, Reserve.BALANCED, Reserve.SAFE)]
    assert kept == sorted(set(kept))


@pytest.mark.parametrize(("strength", "replicas"), [(0.0, 0.0), (0.5, 3.5), (1.0, 6.5)])
def test_the_burst_floor_grows_with_how_much_the_traffic_is_on_off(strength: float, replicas: float) -> None:
    assert burst_floor(strength, 6.0, CUSHION) == pytest.approx(replicas)
