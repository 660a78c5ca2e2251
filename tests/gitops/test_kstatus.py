"""kstatus itself, and the rules of a history: each of them can be broken."""

from typing import Any

import pytest

from tests.builders import Json, with_changes
from tests.cluster.kstatus import KStatus, kstatus
from tests.cluster.kstatus_rules import Moment, problems

PLAN = {"image": "engine:1", "args": ["--port", "8000"]}
OPERATOR = [{"manager": "llmservice-operator", "operation": "Apply", "subresource": "status"}]


def a_condition(kind: str, status: str = "True", reason: str = "Ready") -> Json:
    times = {"lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1}
    return {"type": kind, "status": status, "reason": reason, "message": "so it is", **times}


def a_service(revision: int, *conditions: Json, **changes: Any) -> Moment:
    """An LLMService of generation 1, seen by the operator, with these conditions; Ready without any."""
    status = {"observedGeneration": 1, "conditions": list(conditions or [a_condition("Ready")]), "plan": PLAN}
    metadata = {"namespace": "ml", "name": "chat", "uid": "u-1", "generation": 1, "managedFields": OPERATOR}
    body = {"metadata": {**metadata, "resourceVersion": str(revision)}, "spec": {}, "status": status}
    return Moment("LLMService", with_changes(body, changes))


def a_deployment(revision: int, **changes: Any) -> Moment:
    """Its Deployment, rolled out with one replica."""
    labels, annotations = {"llmservice.dev/name": "chat"}, {"llmservice.dev/intent": "first"}
    metadata = {"namespace": "ml", "name": "chat", "uid": "d-1", "generation": 1}
    body = {
        "metadata": {**metadata, "resourceVersion": str(revision), "labels": labels, "annotations": annotations},
        "spec": {"replicas": 1},
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1},
    }
    return Moment("Deployment", with_changes(body, changes))


def a_pod(revision: int, **changes: Any) -> Moment:
    """Its pod, ready."""
    metadata = {"namespace": "ml", "name": "chat-1", "uid": "p-1", "labels": {"llmservice.dev/name": "chat"}}
    owner = {"kind": "ReplicaSet", "name": "chat-7d9f"}
    body = {
        "metadata": {**metadata, "resourceVersion": str(revision), "ownerReferences": [owner]},
        "spec": {"containers": [PLAN]},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    return Moment("Pod", with_changes(body, changes))


NEW = a_service(1, status={"observedGeneration": -1}, metadata__managedFields=[])
WAITING = a_service(2, a_condition("Ready", "False", "Loading"), a_condition("Reconciling", reason="Loading"))
GOOD = [NEW, WAITING, a_deployment(3), a_pod(4), a_service(5)]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, KStatus.CURRENT),
        ({"status": None}, KStatus.CURRENT),
        ({"status__observedGeneration": -1}, KStatus.IN_PROGRESS),
        ({"metadata__generation": 2}, KStatus.IN_PROGRESS),
        ({"metadata__deletionTimestamp": "2026-01-01T00:00:00Z"}, KStatus.TERMINATING),
        ({"status__conditions": [a_condition("Ready", "False")]}, KStatus.IN_PROGRESS),
        ({"status__conditions": [a_condition("Ready", "Unknown")]}, KStatus.IN_PROGRESS),
        ({"status__conditions": [a_condition("Ready"), a_condition("Reconciling")]}, KStatus.IN_PROGRESS),
        ({"status__conditions": [a_condition("Ready", "False"), a_condition("Stalled")]}, KStatus.FAILED),
        ({"status__conditions": [a_condition("Stalled", "False")]}, KStatus.CURRENT),
    ],
)
def test_kstatus_follows_its_rules(changes: Json, expected: KStatus) -> None:
    assert kstatus(a_service(1, **changes).body) == expected


def test_a_good_life_breaks_no_rule() -> None:
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    ("moments", "problem"),
    [
        ([a_service(1, metadata__managedFields=[])], "Current before the operator has looked"),
        ([a_service(1, status__observedGeneration=2)], "a generation that is not there yet"),
        ([a_service(1, a_condition("Available"))], "without Ready"),
        ([a_service(1, a_condition("Ready"), a_condition("Stalled"))], "Ready and unfinished at once"),
        ([a_service(1, a_condition("Reconciling"), a_condition("Stalled"))], "Reconciling and Stalled at once"),
        ([a_service(1, a_condition("Ready", reason="JustBecause"))], "without a reason of the list"),
        ([a_service(1, {**a_condition("Ready"), "observedGeneration": 0})], "another generation than the status"),
        ([*GOOD, a_service(6, status__observedGeneration=0)], "the observed generation went back"),
        ([*GOOD, a_service(6, {**a_condition("Ready"), "lastTransitionTime": "later"})], "without a transition"),
        ([NEW, WAITING, a_pod(4), a_service(5)], "the pods are not at generation 1"),
        ([NEW, WAITING, a_deployment(3), a_service(5)], "the pods are not at generation 1"),
        ([NEW, a_deployment(3, status__updatedReplicas=0), a_pod(4), a_service(5)], "the pods are not at generation 1"),
        ([NEW, a_deployment(3, metadata__generation=2), a_pod(4), a_service(5)], "the pods are not at generation 1"),
        ([NEW, a_deployment(3), a_pod(4, status={}), a_service(5)], "the pods are not at generation 1"),
        (
            [NEW, a_deployment(3), a_pod(4, spec__containers=[{"image": "engine:0"}]), a_service(5)],
            "the pods are not at generation 1",
        ),
        (
            [NEW, a_deployment(3), a_pod(4, metadata__ownerReferences=[]), a_service(5)],
            "the pods are not at generation 1",
        ),
        ([NEW, a_deployment(3), a_pod(4), a_service(5, spec__replicas=2)], "the pods are not at generation 1"),
        (
            [NEW, a_deployment(3), a_service(5, a_condition("Ready", reason="Suspended"))],
            "the pods are not at generation 1",
        ),
        (
            [*GOOD, a_deployment(6, metadata__annotations={"llmservice.dev/intent": "second"}), a_service(7)],
            "the Deployment's intent changed",
        ),
    ],
)
def test_a_broken_rule_is_named(moments: list[Moment], problem: str) -> None:
    assert problem in "\n".join(problems(moments))


def test_what_breaks_while_the_status_is_written_is_no_lie() -> None:
    gone = a_pod(5, status__conditions=[{"type": "Ready", "status": "False"}])
    assert problems([NEW, WAITING, a_deployment(3), a_pod(4), gone, a_service(6)]) == []
