"""The HPA's formulas, by the numbers of Kubernetes' documentation, and its default behaviour."""

import pytest

from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.simulation.peers.hpa import HpaMemory, by_external_metric, by_pod_metric, stabilized
from llmservice.simulation.peers.on_hpa import hpa_on_kv_cache, keda
from tests.unit.simulation.peers.snapshots import POLICY, a_snapshot, asked


@pytest.mark.parametrize(
    ("total", "target", "replicas", "wanted"),
    [
        (200.0, 100.0, 1, 2),  # twice the target: twice the replicas
        (50.0, 100.0, 2, 1),
        (240.0, 24.0, 10, 10),
        (264.0, 24.0, 10, 10),  # 1.1: within the tolerance
        (265.0, 24.0, 10, 12),  # 11.04, rounded up
        (216.0, 24.0, 10, 10),  # 0.9
        (215.0, 24.0, 10, 9),
        (0.0, 24.0, 3, 0),
    ],
)
def test_an_external_metric_is_shared_among_replicas(total: float, target: float, replicas: int, wanted: int) -> None:
    assert by_external_metric(total, target, replicas) == wanted


@pytest.mark.parametrize(
    ("values", "missing", "target", "wanted"),
    [
        ((0.9, 0.9), 0, 0.6, 3),  # 2 x 1.5
        ((0.6, 0.6, 0.6), 0, 0.6, 3),
        ((0.2, 0.2, 0.2), 0, 0.6, 1),
        ((1.0, 1.0), 1, 0.5, 4),  # up: (1 + 1 + 0) / 3 = 1.33 of the target, times 3
        ((0.6, 0.6), 1, 0.5, 3),  # up, but with an idle third it would be down: stays
        ((0.1, 0.1), 2, 0.5, 3),  # down: (0.1 + 0.1 + 0.5 + 0.5) / 4 = 0.6 of the target, times 4
        ((), 2, 0.5, 2),
    ],
)
def test_a_pod_metric_takes_pods_without_it_for_idle_or_at_the_target(
    values: tuple[float, ...], missing: int, target: float, wanted: int
) -> None:
    assert by_pod_metric(values, missing, target, len(values) + missing) == wanted


@pytest.mark.parametrize(("replicas", "most"), [(1, 5), (3, 7), (4, 8), (6, 12), (20, 32)])
def test_up_by_four_or_twice_as_many_in_one_period(replicas: int, most: int) -> None:
    assert stabilized(100, replicas, HpaMemory(), 0.0, POLICY)[0] == most


def test_what_was_added_within_the_period_counts() -> None:
    first, memory = stabilized(100, 1, HpaMemory(), 0.0, POLICY)
    second, memory = stabilized(100, first, memory, 10.0, POLICY)
    third, _ = stabilized(100, second, memory, 15.0, POLICY)
    assert (first, second, third) == (5, 5, 10)


def test_down_to_the_largest_recommendation_of_five_minutes() -> None:
    memory, replicas, seen = HpaMemory(), 10, []
    for at, recommendation in ((0.0, 8), (100.0, 4), (300.0, 2), (301.0, 2), (401.0, 2), (601.0, 2)):
        replicas, memory = stabilized(recommendation, replicas, memory, at, POLICY)
        seen.append(replicas)
    assert seen == [10, 10, 10, 4, 2, 2]


def test_bounds_hold() -> None:
    policy = ScalingPolicy(minimum=2, maximum=6)
    assert stabilized(100, 4, HpaMemory(), 0.0, policy)[0] == 6
    assert stabilized(0, 2, HpaMemory(), 0.0, policy)[0] == 2


def test_keda_counts_running_and_waiting_requests() -> None:
    decision = keda(24.0, POLICY)(a_snapshot((20.0, 30.0), (10.0, 30.0)), 15.0)
    assert decision.replicas == 4
    assert "90 requests, threshold 24" in decision.message


def test_keda_keeps_what_ran_for_five_minutes_after_the_load_fell() -> None:
    numbers = asked(keda(10.0, POLICY), lambda n: a_snapshot(*[(1.0, 0.0)] * n), range(15, 361, 15), 8)
    assert numbers[:20] == [8] * 20
    assert numbers[-1] == 1


def test_hpa_on_kv_cache_takes_a_starting_replica_for_idle() -> None:
    decision = hpa_on_kv_cache(80.0, POLICY)(a_snapshot((9.0, 0.0), (9.0, 0.0), kv=(0.96, 0.96), starting=1), 15.0)
    assert decision.replicas == 3
    assert hpa_on_kv_cache(80.0, POLICY)(a_snapshot((9.0, 0.0), (9.0, 0.0), kv=(0.96, 0.96)), 15.0).replicas == 3
