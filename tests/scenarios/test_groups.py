"""Replicas on several nodes, played by hand: what is written, what is counted, and what stops it."""

from datetime import timedelta
from typing import Any

from llmservice.converging.progress import progress_until
from llmservice.objects.references import Manifest, Ref
from tests.scenarios.world import NAMESPACE, World, a_ready_pod

SETS = "leaderworkerset.sigs.k8s.io"
NODES: dict[str, Any] = {
    "spec__engine": "vllm",
    "spec__model__uri": "hf://acme/chat-7B",
    "spec__model__inspect": "Never",
    "spec__gpu": {"type": "L4", "nodes": 2, "verify": False},
}
SET = Ref("LeaderWorkerSet", NAMESPACE, "chat")


def a_pod(world: World, worker: int, *, ready: bool = True) -> Manifest:
    template = world.get("LeaderWorkerSet")["spec"]["leaderWorkerTemplate"]["leaderTemplate"]
    pod = a_ready_pod(f"chat-0-{worker}" if worker else "chat-0", "chat", None)
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "chat-0" if worker else "chat", "uid": "s"}
    pod["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    pod["metadata"]["annotations"] = template["metadata"]["annotations"]
    pod["metadata"]["labels"] |= {f"{SETS}/name": "chat", f"{SETS}/group-index": "0"}
    pod["metadata"]["labels"][f"{SETS}/worker-index"] = str(worker)
    pod["status"]["conditions"] = [{"type": "Ready", "status": str(ready)}]
    return pod


def a_status(world: World, **status: Any) -> None:
    def report(live: Manifest) -> None:
        counts = {"replicas": 1, "updatedReplicas": 1, "readyReplicas": 1}
        live["status"] = {"observedGeneration": live["metadata"]["generation"], **counts, **status}

    world.cluster.edit(SET, report, manager="lws", subresource="status")


def serving() -> World:
    world = World()
    world.apply(**NODES)
    world.reconcile()
    for worker in (0, 1):
        world.cluster.create(a_pod(world, worker))
    a_status(world)
    world.reconcile()
    return world


def test_a_group_is_one_replica() -> None:
    world = serving()
    assert not world.exists("Deployment")
    status = world.get("LLMService")["status"]
    assert (status["replicas"], status["readyReplicas"]) == (1, 1)
    assert world.condition()["status"] == "True"
    world.writes()
    world.reconcile()
    assert world.writes() == []


def test_a_worker_that_fails_is_named() -> None:
    world = serving()

    def crash(live: Manifest) -> None:
        engine = {"name": "engine", "ready": False, "restartCount": 1, "state": {"waiting": {}}}
        engine["lastState"] = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
        live["status"] |= {"conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [engine]}

    world.cluster.edit(Ref("Pod", NAMESPACE, "chat-0-1"), crash, subresource="status")
    waits = [{"type": "Ready", "status": "False"}]
    world.cluster.edit(
        Ref("Pod", NAMESPACE, "chat-0"), lambda live: live["status"].update(conditions=waits), subresource="status"
    )
    world.reconcile()
    assert "worker 1 of group 0 (chat-0-1)" in world.condition()["message"]


def test_all_nodes_of_a_group_that_starts_are_kept() -> None:
    world = World()
    world.apply(**NODES)
    world.reconcile()
    starting = {"creationTimestamp": world.time.strftime("%Y-%m-%dT%H:%M:%SZ")}
    for worker in (0, 1):
        pod = a_pod(world, worker, ready=bool(worker))
        pod["metadata"] |= starting
        pod["spec"]["nodeName"] = f"node-{worker}"
        world.cluster.create(pod)
    a_status(world, readyReplicas=0)
    world.reconcile()
    assert kept(world) == {"chat-0", "chat-0-1"}
    ready = [{"type": "Ready", "status": "True"}]
    world.cluster.edit(
        Ref("Pod", NAMESPACE, "chat-0"), lambda live: live["status"].update(conditions=ready), subresource="status"
    )
    world.reconcile()
    assert kept(world) == set()


def kept(world: World) -> set[str]:
    pods = (world.get("Pod", name)["metadata"] for name in ("chat-0", "chat-0-1"))
    return {pod["name"] for pod in pods if "karpenter.sh/do-not-disrupt" in (pod.get("annotations") or {})}


def test_a_cluster_without_the_kind_says_how_to_get_it_and_goes_on_when_it_comes() -> None:
    world = World()
    world.reconciler.observer.absent = lambda _: {"LeaderWorkerSet": "404: page not found"}
    world.apply(**NODES)
    assert world.reconcile() is not None
    assert world.condition("Stalled")["reason"] == "GroupsNotAvailable"
    assert {"spec.gpu.nodes", "404: page not found"} <= {
        part for part in ("spec.gpu.nodes", "404: page not found") if part in world.condition()["message"]
    }
    assert not world.exists("Service")
    world.reconciler.observer.absent = lambda _: {}
    world.reconcile()
    assert world.exists("LeaderWorkerSet")


def test_one_node_and_several_are_not_exchanged_by_the_operator() -> None:
    world = World().serving(**{**NODES, "spec__gpu": {"type": "L4", "verify": False}})
    world.apply(**NODES)
    world.reconcile()
    assert world.condition("Stalled")["reason"] == "OtherWorkload"
    assert "Deployment chat" in world.condition()["message"]
    assert (world.exists("Deployment"), world.exists("LeaderWorkerSet")) == (True, False)
    assert world.condition("Available")["status"] == "True"
    world.cluster.remove(Ref("Deployment", NAMESPACE, "chat"))
    world.reconcile()
    assert world.exists("LeaderWorkerSet")


def test_groups_that_do_not_come_for_longer_than_the_deadline_are_late() -> None:
    world = serving()
    began = world.time.strftime("%Y-%m-%dT%H:%M:%SZ")
    a_status(world, conditions=[{"type": "Progressing", "status": "True", "lastTransitionTime": began}])
    live, now = world.get("LeaderWorkerSet"), world.time
    assert not progress_until(live, (), 600, now + timedelta(seconds=599)).late
    assert progress_until(live, (), 600, now + timedelta(seconds=601)).late
