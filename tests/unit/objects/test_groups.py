"""Which pods are of a group, which answers, and which were made from the current template."""

from typing import Any

import pytest

from llmservice.cluster.caching.trimming import trimmed
from llmservice.objects.groups import is_worker, place_in_group
from llmservice.objects.pods import of_current_template, pods_of, replicas_among
from llmservice.objects.references import Manifest

SETS = "leaderworkerset.sigs.k8s.io"


def a_set(digest: str = "new") -> Manifest:
    template = {"metadata": {"annotations": {"llmservice.dev/template": digest}}, "spec": {}}
    spec = {"leaderWorkerTemplate": {"leaderTemplate": template, "workerTemplate": template}}
    metadata = {"name": "chat", "namespace": "ml", "uid": "1"}
    return {"apiVersion": f"{SETS}/v1", "kind": "LeaderWorkerSet", "metadata": metadata, "spec": spec}


def a_pod(
    worker: int, group: int = 0, *, made_by: str = "", kind: str = "StatefulSet", digest: str = "new"
) -> Manifest:
    leader = f"chat-{group}"
    labels = {
        "llmservice.dev/name": "chat",
        f"{SETS}/name": "chat",
        f"{SETS}/group-index": str(group),
        f"{SETS}/worker-index": str(worker),
    }
    owner = {"kind": kind, "name": made_by or (leader if worker else "chat"), "uid": "2", "controller": True}
    metadata: dict[str, Any] = {
        "name": f"{leader}-{worker}" if worker else leader,
        "namespace": "ml",
        "labels": labels,
        "annotations": {"llmservice.dev/template": digest},
        "ownerReferences": [owner],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": {}}


def names(pods: Any) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods]


def test_a_group_is_its_leader_and_its_workers() -> None:
    pods = [a_pod(0), a_pod(1), a_pod(0, 1), a_pod(1, 1)]
    assert names(pods_of(a_set(), (), pods)) == ["chat-0", "chat-0-1", "chat-1", "chat-1-1"]
    assert names(replicas_among(pods)) == ["chat-0", "chat-1"]


@pytest.mark.parametrize(
    "stranger",
    [a_pod(0, kind="ReplicaSet"), a_pod(0, made_by="other"), a_pod(1, made_by="chat"), a_pod(0, made_by="chat-0")],
)
def test_a_pod_that_another_controller_made_is_of_no_group(stranger: Manifest) -> None:
    assert pods_of(a_set(), (), [stranger]) == ()


def test_a_copy_without_a_controller_is_of_no_group() -> None:
    copy = a_pod(0)
    copy["metadata"]["ownerReferences"] = []
    assert pods_of(a_set(), (), [copy]) == ()


def test_the_pods_of_the_current_template_bear_its_digest() -> None:
    pods = [a_pod(0, digest="old"), a_pod(0, 1)]
    assert names(of_current_template(a_set(), (), pods)) == ["chat-1"]


def test_the_cache_keeps_what_tells_the_group() -> None:
    kept = [trimmed(a_pod(0)), trimmed(a_pod(1))]
    assert names(pods_of(a_set(), (), kept)) == ["chat-0", "chat-0-1"]
    assert names(of_current_template(a_set(), (), kept)) == ["chat-0", "chat-0-1"]
    assert is_worker(kept[1])


def test_a_pod_is_named_by_its_place() -> None:
    assert place_in_group(a_pod(0, 3)) == "the leader of group 3 (chat-3)"
    assert place_in_group(a_pod(2, 3)) == "worker 2 of group 3 (chat-3-2)"
    assert place_in_group(a_pod(0, kind="ReplicaSet")) == ""
