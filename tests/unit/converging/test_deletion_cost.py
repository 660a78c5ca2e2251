"""The idlest pods leave first, by as few writes as that takes."""

from llmservice.converging.deletion_cost import costs_to_write
from llmservice.converging.scaled_pods import PodPhase, ScaledPod


def a_pod(name: str, cost: int = 0, phase: PodPhase = PodPhase.READY) -> ScaledPod:
    return ScaledPod(name=name, uid=f"u-{name}", phase=phase, deletion_cost=cost)


def first_to_leave(pods: list[ScaledPod], requests: dict[str, float], replicas: int) -> list[str]:
    """Who leaves, by the costs after the writes: as the ReplicaSet controller orders ready pods."""
    written = costs_to_write(pods, requests, replicas)
    costs = {pod.name: written.get(pod, pod.deletion_cost) or 0 for pod in pods}
    return sorted(costs, key=lambda name: costs[name])[: len(pods) - replicas]


def test_the_idlest_leave() -> None:
    pods = [a_pod("a"), a_pod("b"), a_pod("c"), a_pod("d")]
    assert sorted(first_to_leave(pods, {"a": 9, "b": 1, "c": 4, "d": 0}, 2)) == ["b", "d"]


def test_of_those_that_leave_the_idlest_is_the_cheapest() -> None:
    pods = [a_pod("a"), a_pod("b"), a_pod("c")]
    assert first_to_leave(pods, {"a": 2, "b": 1, "c": 4}, 1) == ["b", "a"]


def test_only_those_that_leave_are_written() -> None:
    pods = [a_pod("a"), a_pod("b"), a_pod("c")]
    assert [pod.name for pod in costs_to_write(pods, {"a": 0, "b": 1, "c": 4}, 2)] == ["a"]


def test_nothing_is_written_when_the_order_is_right_already() -> None:
    pods = [a_pod("a", -7), a_pod("b"), a_pod("c")]
    assert costs_to_write(pods, {"a": 0, "b": 1, "c": 4}, 2) == {}


def test_a_mark_of_an_earlier_time_does_not_make_a_busy_pod_leave() -> None:
    pods = [a_pod("a", -999_999), a_pod("b"), a_pod("c")]
    requests: dict[str, float] = {"a": 50, "b": 1, "c": 4}
    assert first_to_leave(pods, requests, 2) == ["b"]
    assert costs_to_write(pods, requests, 2)[pods[0]] is None


def test_starting_pods_leave_before_all_others_so_nobody_is_marked_for_them() -> None:
    pods = [a_pod("a"), a_pod("b"), a_pod("c", phase=PodPhase.STARTING)]
    assert costs_to_write(pods, {"a": 0, "b": 1}, 2) == {}


def test_nothing_is_written_when_all_leave_or_none() -> None:
    pods = [a_pod("a"), a_pod("b")]
    assert costs_to_write(pods, {"a": 0, "b": 1}, 0) == costs_to_write(pods, {"a": 0, "b": 1}, 2) == {}


def test_a_pod_of_which_nothing_is_known_counts_as_busy() -> None:
    pods = [a_pod("a"), a_pod("b")]
    assert first_to_leave(pods, {"b": 40}, 1) == ["b"]
