"""Which pods are the workload's: the chain of UIDs from the pod to the Deployment."""

from typing import Any

import pytest

from llmservice.objects.names import REVISION_ANNOTATION
from llmservice.objects.pods import of_current_template, pods_of
from llmservice.objects.references import Manifest

DEPLOYMENT: Manifest = {"kind": "Deployment", "metadata": {"name": "chat", "uid": "d-1"}}


def owned(kind: str, uid: str, owner_kind: str, owner_uid: str, *, controls: bool = True) -> Manifest:
    owner = {"kind": owner_kind, "name": "chat", "uid": owner_uid, "controller": controls}
    return {"kind": kind, "metadata": {"name": f"chat-{uid}", "uid": uid, "ownerReferences": [owner]}}


REPLICA_SET = owned("ReplicaSet", "r-1", "Deployment", "d-1")


def names(pod: Manifest, *replica_sets: Manifest, deployment: Manifest | None = DEPLOYMENT) -> list[Any]:
    return [found["metadata"]["uid"] for found in pods_of(deployment, replica_sets, [pod])]


def test_a_pod_of_a_replica_set_of_the_deployment_counts() -> None:
    assert names(owned("Pod", "p-1", "ReplicaSet", "r-1"), REPLICA_SET) == ["p-1"]


@pytest.mark.parametrize(
    ("pod", "replica_sets"),
    [
        (owned("Pod", "p-1", "ReplicaSet", "invented"), [REPLICA_SET]),
        (owned("Pod", "p-1", "ReplicaSet", "r-1"), []),
        (owned("Pod", "p-1", "ReplicaSet", "r-1", controls=False), [REPLICA_SET]),
        (owned("Pod", "p-1", "ReplicaSet", "r-2"), [owned("ReplicaSet", "r-2", "Deployment", "d-2")]),
        (owned("Pod", "p-1", "Deployment", "d-1"), [REPLICA_SET]),
        ({"kind": "Pod", "metadata": {"name": "bare", "uid": "p-1"}}, [REPLICA_SET]),
    ],
    ids=["an invented UID", "not seen yet", "an owner only", "another Deployment's", "without a ReplicaSet", "bare"],
)
def test_a_pod_without_the_whole_chain_does_not_count(pod: Manifest, replica_sets: list[Manifest]) -> None:
    assert names(pod, *replica_sets) == []


def test_without_the_deployment_no_pod_counts() -> None:
    assert names(owned("Pod", "p-1", "ReplicaSet", "r-1"), REPLICA_SET, deployment=None) == []


def at_revision(manifest: Manifest, revision: str) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": {REVISION_ANNOTATION: revision}}}


def test_pods_of_the_current_template_are_those_of_its_revision() -> None:
    """An older ReplicaSet may be the current one again: its age says nothing."""
    older, newer = (owned("Pod", f"p-{number}", "ReplicaSet", f"r-{number}") for number in (1, 2))
    sets = [at_revision(REPLICA_SET, "3"), at_revision(owned("ReplicaSet", "r-2", "Deployment", "d-1"), "2")]
    assert of_current_template(at_revision(DEPLOYMENT, "3"), sets, [older, newer]) == (older,)
    assert of_current_template(at_revision(DEPLOYMENT, "4"), sets, [older, newer]) == ()
    assert of_current_template(None, sets, [older, newer]) == ()
