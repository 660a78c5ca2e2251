"""KubeAI: the mean of sixty readings, and three of them before fewer."""

from llmservice.simulation.peers.kubeai import KubeAiMemory, following, kubeai
from tests.unit.simulation.peers.snapshots import POLICY, a_snapshot, asked


def test_the_mean_of_ten_minutes_decides() -> None:
    memory = KubeAiMemory(active=(0.0,) * 30 + (200.0,) * 30)
    replicas, memory = following(200.0, 100.0, 1, memory, POLICY)
    assert replicas == 2  # 31 of 60 readings of 200: 103.3 on average
    assert len(memory.active) == 60


def test_a_service_begins_as_if_it_had_always_been_like_this() -> None:
    assert following(250.0, 100.0, 1, KubeAiMemory(), POLICY)[0] == 3


def test_three_intervals_pass_before_fewer() -> None:
    numbers = asked(kubeai(100.0, POLICY), lambda n: a_snapshot(*[(10.0, 0.0)] * n), range(10, 61, 10), 4)
    assert numbers == [4, 4, 4, 1, 1, 1]


def test_another_wish_for_as_many_begins_the_wait_anew() -> None:
    waiting = KubeAiMemory(active=(100.0,) * 60, fewer=2)
    assert following(100.0, 100.0, 1, waiting, POLICY)[1].fewer == 0


def test_its_proxy_counts_requests_that_no_replica_took() -> None:
    assert kubeai(100.0, POLICY)(a_snapshot((50.0, 100.0), gated=150.0), 10.0).replicas == 3
