"""Who of the pods counts, and how far each is."""

from typing import Any

import pytest

from llmservice.converging.scaled_pods import PodPhase, scaled_pods
from tests.unit.converging.plans import a_pod, unscheduled


def phases(*pods: dict[str, Any]) -> list[PodPhase]:
    return [pod.phase for pod in scaled_pods(pods)]


@pytest.mark.parametrize(
    ("pod", "phase"),
    [
        (a_pod(), PodPhase.READY),
        (a_pod(ready=False), PodPhase.STARTING),
        (a_pod(ready=False, **unscheduled("0/3 nodes are available")), PodPhase.UNSCHEDULABLE),
    ],
)
def test_how_far_a_pod_is(pod: dict[str, Any], phase: PodPhase) -> None:
    assert phases(pod) == [phase]


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_a_pod_that_has_ended_does_not_count(phase: str) -> None:
    assert phases(a_pod(phase=phase)) == []


def test_a_pod_that_is_being_stopped_does_not_count() -> None:
    leaving = a_pod()
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert phases(leaving) == []


def test_the_scheduler_is_quoted() -> None:
    (pod,) = scaled_pods([a_pod(ready=False, **unscheduled("0/3 nodes are available"))])
    assert pod.scheduler_message == "0/3 nodes are available"


def ready_at(moment: str, **status: Any) -> dict[str, Any]:
    return a_pod(conditions=[{"type": "Ready", "status": "True", "lastTransitionTime": moment}], **status)


@pytest.mark.parametrize(
    ("pod", "seconds"),
    [
        (ready_at("2026-01-01T00:02:18Z"), 138.0),
        (ready_at("2026-01-01T09:00:00Z"), 1800.0),
        (ready_at("2025-12-31T23:59:59Z"), 0.0),
        (ready_at("2026-01-01T00:02:18Z", containerStatuses=[{"name": "engine", "restartCount": 1}]), None),
        (a_pod(), None),
    ],
)
def test_a_cold_start_is_from_created_to_ready(pod: dict[str, Any], seconds: float | None) -> None:
    (found,) = scaled_pods([pod])
    assert found.cold_start_seconds == seconds


@pytest.mark.parametrize(("text", "cost"), [("-5", -5), ("7", 7), ("much", 0), ("9" * 20, 0)])
def test_a_cost_is_read_as_far_as_it_is_one(text: str, cost: int) -> None:
    pod = a_pod()
    pod["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": text}
    (found,) = scaled_pods([pod])
    assert found.deletion_cost == cost


def unready_since(moment: str | None, started: str | None) -> dict[str, Any]:
    """A pod that is not ready; its engine was started then, or does not run."""
    condition = {"type": "Ready", "status": "False"} | ({"lastTransitionTime": moment} if moment else {})
    state: dict[str, Any] = {"waiting": {"reason": "CrashLoopBackOff"}}
    if started is not None:
        state = {"running": {"startedAt": started} if started else {}}
    engine = {"name": "engine", "restartCount": 0, "state": state}
    return a_pod(ready=False, conditions=[condition], containerStatuses=[engine])


@pytest.mark.parametrize(
    ("pod", "has_served"),
    [
        (unready_since("2026-01-01T00:00:05Z", "2026-01-01T00:00:09Z"), False),
        (unready_since("2026-01-01T00:00:05Z", "2026-01-01T00:00:05Z"), False),
        (unready_since("2026-01-01T08:00:00Z", "2026-01-01T00:00:05Z"), True),
        (unready_since("2026-01-01T08:00:00Z", "2026-01-01T08:00:20Z"), False),
        (unready_since("2026-01-01T08:00:00Z", None), False),
        (unready_since(None, "2026-01-01T00:00:05Z"), True),
        (unready_since("2026-01-01T08:00:00Z", ""), True),
        (a_pod(), False),
    ],
    ids=["loading", "same second", "not ready again", "started again", "not running", "when?", "since when?", "ready"],
)
def test_one_that_is_not_ready_has_served_if_it_ceased_to_be_after_its_engine_was_started(
    pod: dict[str, Any], has_served: bool
) -> None:
    (found,) = scaled_pods([pod])
    assert found.has_served is has_served


def leaving(name: str, gone_by: str, **status: Any) -> dict[str, Any]:
    pod = a_pod(name, **status)
    pod["metadata"]["deletionTimestamp"] = gone_by
    return pod


def without_a_place(name: str) -> dict[str, Any]:
    return a_pod(name, ready=False, **unscheduled("0/3 nodes are available"))


def test_as_many_wait_for_the_place_of_another_as_are_being_stopped() -> None:
    stopped = [leaving("d", "2026-01-01T00:09:00Z"), leaving("e", "2026-01-01T00:08:00Z")]
    pods = scaled_pods([*map(without_a_place, "abc"), *stopped])
    assert [(pod.phase, pod.room_freed_by) for pod in pods] == [
        (PodPhase.UNSCHEDULABLE, "2026-01-01T00:08:00Z"),
        (PodPhase.UNSCHEDULABLE, "2026-01-01T00:09:00Z"),
        (PodPhase.UNSCHEDULABLE, ""),
    ]


def test_one_that_has_ended_leaves_no_place() -> None:
    (pod,) = scaled_pods([without_a_place("a"), leaving("b", "2026-01-01T00:09:00Z", phase="Failed")])
    assert pod.room_freed_by == ""
