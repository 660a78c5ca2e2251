"""AIBrix's APA, by its documented tolerance, rates and cooldown."""

import pytest

from llmservice.simulation.peers.aibrix import aibrix, recommended
from tests.unit.simulation.peers.snapshots import POLICY, a_snapshot, asked


@pytest.mark.parametrize(
    ("mean", "replicas", "ready", "wanted"),
    [
        (0.55, 4, 4, 4),  # 1.1: within the tolerance
        (0.6, 4, 4, 5),  # 4 x 1.2 = 4.8
        (1.0, 4, 4, 8),
        (2.0, 4, 4, 8),  # at most twice as many
        (0.45, 4, 4, 4),
        (0.3, 4, 4, 3),  # 4 x 0.6 = 2.4
        (0.05, 4, 4, 2),  # at most half
        (0.6, 8, 4, 8),  # four that start are taken for idle: 4 x 1.2 are fewer than run
        (1.5, 8, 4, 12),  # 4 x 3
        (0.1, 8, 4, 5),  # four that start are taken for full: 4 x 0.2 + 4 = 4.8
    ],
)
def test_replicas_follow_the_ratio(mean: float, replicas: int, ready: int, wanted: int) -> None:
    assert recommended(mean, 0.5, replicas, ready) == wanted


def test_the_largest_demand_wins() -> None:
    decision = aibrix(POLICY)(a_snapshot((10.0, 150.0), (10.0, 150.0), kv=(0.1, 0.1)), 10.0)
    assert decision.replicas == 3


def test_fewer_only_after_the_cooldown_of_five_minutes() -> None:
    kv = iter([0.5] + [0.0] * 60)
    numbers = asked(aibrix(POLICY), lambda n: a_snapshot(*[(1.0, 0.0)] * n, kv=[next(kv)] * n), range(10, 511, 10), 4)
    assert numbers.index(2) == 30  # when the only reading at the target is five minutes old
    assert numbers[-1] == 2  # half of that takes another five minutes
