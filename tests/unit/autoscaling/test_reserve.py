"""Reserve and burst floor."""

import pytest

from llmservice.autoscaling.policy import Reserve
from llmservice.autoscaling.reserve import CUSHIONS, Cushion, burst_floor, forecast_factor, reserve

CUSHION = Cushion(fixed=0.5, per_root=0.2)
AS_ASSUMED = (0.2 / 1.2) ** 2
"""The surprise at which the constants are just right."""


@pytest.mark.parametrize(
    ("load", "cold_start", "factor", "replicas"),
    [
        (0.0, 120.0, 1.0, 0.5),
        (4.0, 120.0, 1.0, 0.9),
        (4.0, 300.0, 1.0, 1.5),
        (16.0, 60.0, 1.0, 0.9),
        (4.0, 120.0, 0.5, 0.7),
    ],
)
def test_is_a_fixed_share_and_the_root_of_the_load(
    load: float, cold_start: float, factor: float, replicas: float
) -> None:
    assert reserve(load, cold_start, CUSHION, factor) == pytest.approx(replicas)


def test_safe_keeps_more_than_balanced_and_balanced_more_than_economy() -> None:
    kept = [reserve(4.0, 120.0, CUSHIONS[kind], 1.0) for kind in (Reserve.ECONOMY, Reserve.BALANCED, Reserve.SAFE)]
    assert kept == sorted(set(kept))


@pytest.mark.parametrize("surprise", [0.0, AS_ASSUMED, 100.0])
def test_one_hour_of_forecasts_changes_nothing(surprise: float) -> None:
    assert forecast_factor(surprise, 1.0, CUSHION) == 1.0


def test_forecasts_that_were_right_for_hours_need_less() -> None:
    factors = [forecast_factor(0.0, hours, CUSHION) for hours in (1.0, 1.5, 2.0, 4.0, 12.0)]
    assert factors == sorted(set(factors), reverse=True)
    assert (factors[1], factors[-1]) == pytest.approx((0.5**0.5, 0.3))


def test_forecasts_that_were_wrong_need_more() -> None:
    assert forecast_factor(1.5 * AS_ASSUMED, 6.0, CUSHION) == pytest.approx((8.0 / 5.5) ** 0.5)
    assert forecast_factor(100.0, 6.0, CUSHION) == 1.5


def test_forecasts_as_wrong_as_assumed_change_nothing() -> None:
    assert forecast_factor(AS_ASSUMED, 6.0, CUSHION) == pytest.approx(1.0)


@pytest.mark.parametrize(("strength", "replicas"), [(0.0, 0.0), (0.5, 3.5), (1.0, 6.5)])
def test_the_burst_floor_grows_with_how_much_the_traffic_is_on_off(strength: float, replicas: float) -> None:
    assert burst_floor(strength, 6.0, CUSHION) == pytest.approx(replicas)
