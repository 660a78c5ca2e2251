"""A new replica that finds no place while an old one serves."""

from datetime import UTC, datetime
from typing import Any

import pytest

from llmservice.converging.rollout_surge import adds_a_node, without_place
from llmservice.objects.references import Manifest
from tests.unit.converging.plans import a_deployment, a_pod, unscheduled

NOW = datetime(2026, 1, 1, 0, 1, tzinfo=UTC)


def of(replica_set: str, pod: Manifest, created: str = "2026-01-01T00:00:00Z") -> Manifest:
    owner = {"kind": "ReplicaSet", "name": replica_set, "uid": replica_set, "controller": True}
    return {**pod, "metadata": {**pod["metadata"], "ownerReferences": [owner], "creationTimestamp": created}}


def pending(name: str = "new", reason: str = "Unschedulable") -> Manifest:
    status: dict[str, Any] = unscheduled("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
    status["conditions"][0] |= {"reason": reason, "lastTransitionTime": "2026-01-01T00:00:35Z"}
    return of("new", a_pod(name, ready=False) | {"status": status}, "2026-01-01T00:00:30Z")


OLD = of("old", a_pod("old"))


def test_it_waits_since_the_scheduler_said_so() -> None:
    waiting = without_place(a_deployment(), [OLD, pending()], NOW)
    assert waiting is not None
    assert (waiting.seconds, waiting.pod) == (25.0, "uid-new")
    assert "25 s" in waiting.why


@pytest.mark.parametrize(
    "pods",
    [
        [],
        [OLD],
        [pending()],  # nothing older: a first start, or one replica more of the same template
        [of("new", a_pod("other")), pending()],
        [of("old", a_pod("old", ready=False)), pending()],  # nothing serves
        [OLD, pending(reason="SchedulingGated")],
        [OLD, of("new", a_pod("new", ready=False), "2026-01-01T00:00:30Z")],  # the scheduler has not said anything
    ],
)
def test_nothing_else_is_a_replica_without_a_place(pods: list[Manifest]) -> None:
    assert without_place(a_deployment(), pods, NOW) is None


@pytest.mark.parametrize(("reason", "adds"), [("TriggeredScaleUp", True), ("Nominated", True), ("Failed", False)])
def test_a_node_that_comes_is_told_by_its_autoscaler(reason: str, *, adds: bool) -> None:
    assert adds_a_node([{"reason": "FailedScheduling"}, {"reason": reason}]) is adds


def refused(message: str, updated: int = 0) -> Manifest:
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}
    return a_deployment(total=1, updated=updated, conditions=[failure | {"lastTransitionTime": "2026-01-01T00:00:30Z"}])


QUOTA = 'pods "chat-1" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1, used: 1, limited: 1'


def test_a_quota_that_admits_no_further_pod_is_no_place_either() -> None:
    waiting = without_place(refused(QUOTA), [OLD], NOW)
    assert waiting is not None
    assert (waiting.seconds, waiting.pod) == (30.0, "")


def test_what_is_rejected_for_good_or_for_a_scale_up_is_not_helped_by_a_place() -> None:
    assert without_place(refused('pods "chat-1" is forbidden: violates PodSecurity'), [OLD], NOW) is None
    assert without_place(refused(QUOTA, updated=1), [OLD], NOW) is None
    assert without_place(refused(QUOTA), [a_pod("old", ready=False)], NOW) is None
