"""Names that are not ours: nothing is taken, each case is told apart, and little is read."""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from llmservice.objects.references import Manifest, Ref, ref_of, uid_of
from tests.scenarios.world import NAMESPACE, World, a_ready_pod

SERVICE = Ref("Service", NAMESPACE, "chat")


def counted(world: World) -> Counter[str]:
    """The requests from now on, by verb and kind."""
    calls: Counter[str] = Counter()
    world.cluster.before = lambda verb, ref: calls.update([f"{verb} {ref.kind}"])
    return calls


def test_a_new_service_costs_one_read_and_a_write_for_each_child() -> None:
    world = World()
    world.apply()
    calls = counted(world)
    world.pass_once()
    assert calls == {"get LLMService": 1, "apply_new Service": 1, "apply_new Deployment": 1}


def a_foreign_service(**metadata: Any) -> Manifest:
    body = {"name": "chat", "namespace": NAMESPACE, **metadata}
    return {"apiVersion": "v1", "kind": "Service", "metadata": body, "spec": {"ports": [{"port": 1}]}}


def test_an_object_created_between_read_and_write_is_not_taken_over() -> None:
    world = World()
    world.apply()
    made: list[Manifest] = []

    def race(_: str, ref: Ref) -> None:
        if ref == SERVICE and not made:
            made.append(world.cluster.create(a_foreign_service()))

    world.cluster.before = race
    world.reconcile()
    assert world.get("Service") == made[0]
    assert world.condition()["reason"] == "NameConflict"
    assert not world.exists("Deployment")


def test_a_name_that_is_free_again_is_taken_at_the_next_look() -> None:
    world = World()
    world.cluster.create(a_foreign_service())
    world.apply()
    world.reconcile()
    world.cluster.remove(SERVICE)
    world.reconcile()
    assert world.exists("Deployment")
    assert world.condition("Stalled") == {}


def test_a_name_conflict_that_lasts_costs_reads_only() -> None:
    world = World()
    world.cluster.create(a_foreign_service())
    world.apply()
    world.reconcile()
    world.writes()
    calls = counted(world)
    world.reconcile()
    assert world.writes() == []
    assert calls["get Service"] == 1


def orphaned(live: Manifest) -> None:
    live["metadata"].pop("ownerReferences")


def again_without_its_children(world: World) -> None:
    """`kubectl delete --cascade=orphan`, and the resource made again."""
    for kind in ("Service", "Deployment"):
        world.cluster.edit(Ref(kind, NAMESPACE, "chat"), orphaned)
    world.cluster.remove(Ref("LLMService", NAMESPACE, "chat"))
    world.apply()
    world.reconcile()


def test_ones_own_orphans_are_named_with_the_command_that_deletes_them() -> None:
    world = World().serving()
    again_without_its_children(world)
    message = world.condition("Stalled")["message"]
    assert "Deployment chat, Service chat" in message
    assert "kubectl -n ml delete deployment/chat service/chat" in message


def test_an_orphan_that_is_given_this_resource_as_its_controller_is_kept() -> None:
    world = World().serving()
    again_without_its_children(world)
    template = world.get("Deployment")["spec"]["template"]
    resource = world.get("LLMService")
    owner = {"apiVersion": resource["apiVersion"], "kind": "LLMService", "name": "chat", "controller": True}
    for kind in ("Service", "Deployment"):
        world.cluster.edit(
            Ref(kind, NAMESPACE, "chat"),
            lambda live: live["metadata"].update(ownerReferences=[{**owner, "uid": resource["metadata"]["uid"]}]),
        )
    world.reconcile()
    assert world.condition("Stalled") == {}
    assert world.get("LLMService")["status"]["readyReplicas"] == 1
    assert world.get("Deployment")["spec"]["template"] == template


def test_a_deleted_predecessors_child_is_waited_for() -> None:
    world = World().serving()
    for kind in ("Service", "Deployment"):
        world.cluster.edit(Ref(kind, NAMESPACE, "chat"), lambda live: live["metadata"].update(finalizers=["test/slow"]))
    kept = {kind: world.get(kind)["metadata"]["uid"] for kind in ("Service", "Deployment")}
    world.cluster.remove(Ref("LLMService", NAMESPACE, "chat"))
    world.apply()
    again = world.reconcile()
    assert world.condition("Stalled") == {}
    assert world.condition("Reconciling")["reason"] == "NameConflict"
    assert "Deployment chat, Service chat" in world.condition()["message"]
    assert again is not None
    assert again <= 5
    for kind, uid in kept.items():
        assert world.get(kind)["metadata"]["uid"] == uid
        world.cluster.edit(Ref(kind, NAMESPACE, "chat"), lambda live: live["metadata"].pop("finalizers"))
    world.reconcile()
    assert world.condition("Reconciling")["reason"] != "NameConflict"
    assert world.exists("Deployment")


def test_a_child_of_ours_that_lost_its_label_keeps_its_replicas() -> None:
    """No watch tells of it any more, so that it looks as if it were not there."""
    world = World().serving()
    world.scale(5, "hpa")
    ref = Ref("Deployment", NAMESPACE, "chat")
    world.cluster.edit(ref, lambda live: live["metadata"]["labels"].pop("llmservice.dev/name"))
    world.cache.drop_uid(ref, world.get("Deployment")["metadata"]["uid"])
    world.reconcile()
    live = world.get("Deployment")
    assert live["metadata"]["labels"]["llmservice.dev/name"] == "chat"
    assert live["spec"]["replicas"] == 5


@pytest.mark.parametrize("stalled", [False, True])
def test_a_pod_that_names_an_invented_replica_set_is_no_replica(stalled: bool) -> None:
    world = World().serving()
    invented = {"metadata": {"name": "chat-1", "uid": "invented"}}
    world.cluster.create(a_ready_pod("stranger", "chat", invented))
    if stalled:
        world.apply(spec__engineOptions__args=["--model", "other"])
    world.reconcile()
    assert world.get("LLMService")["status"]["readyReplicas"] == 1


def test_a_pod_that_is_seen_before_its_replica_set_counts_once_that_is_there() -> None:
    world = World().serving()
    replica_set = world.replica_set()
    world.cache.drop_uid(ref_of(replica_set), uid_of(replica_set))
    world.time += timedelta(seconds=1)
    world.reconcile()
    assert world.get("LLMService")["status"]["readyReplicas"] == 0
    newer = {**replica_set["metadata"], "resourceVersion": "999999"}
    world.cache.put({**replica_set, "metadata": newer})
    world.reconcile()
    assert world.get("LLMService")["status"]["readyReplicas"] == 1


def test_no_log_is_read_of_a_pod_that_is_not_ours() -> None:
    world = World().serving()
    pod = a_ready_pod("stranger", "chat", {"metadata": {"name": "chat-1", "uid": "invented"}})
    end = {"terminated": {"exitCode": 1, "message": "x" * 4096, "containerID": "c"}}
    status = {"containerStatuses": [{"name": "engine", "state": end, "restartCount": 1}], "phase": "Running"}
    world.cluster.create({**pod, "status": status})
    calls = counted(world)
    world.reconcile()
    assert calls["log_tail Pod"] == 0
    assert asyncio.run(world.cluster.list("Pod")) != []


@pytest.mark.parametrize("kind", ["Deployment", "Service"])
def test_a_child_that_another_kind_claims_by_our_uid_is_read_whole_and_repaired(kind: str) -> None:
    world = World().serving()
    ref = Ref(kind, NAMESPACE, "chat")
    world.cluster.edit(ref, lambda live: live["metadata"]["ownerReferences"][0].update(kind="Rollout"))
    world.reconcile()

    assert world.get(kind)["metadata"]["ownerReferences"][0]["kind"] == "LLMService"
    assert "spec" in (world.cache.get(ref) or {})
