"""What goes wrong with pods and writes, and what the resource says of it: the reconciler on a cluster in a dict."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from llmservice.errors import OperatorError, Unavailable
from llmservice.objects.references import Manifest, Ref
from tests.scenarios.world import NAMESPACE, World, a_ready_pod

POD = Ref("Pod", NAMESPACE, "chat-0")
LONG = "noise " * 400


def with_pod(world: World, engine: dict[str, Any], **status: Any) -> World:
    """The world whose only pod is unready, with this status of its engine."""

    def change(live: Manifest) -> None:
        live["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
        live["status"]["containerStatuses"] = [{"name": "engine", "ready": False, "started": False, **engine}]
        live["status"].update(status)

    world.cluster.edit(POD, change, subresource="status")
    return world


def an_end(number: int) -> dict[str, Any]:
    return {"exitCode": 1, "reason": "Error", "message": LONG, "containerID": f"containerd://{number}"}


CRASHED = {"state": {"terminated": an_end(0)}, "restartCount": 0}


def test_a_write_that_fails_for_long_is_reported_with_the_api_servers_message_and_recovers() -> None:
    world = World()
    world.apply()
    world.fail(
        "apply_new", "Deployment", Unavailable("InternalError", 'failed calling webhook "policies": connection refused')
    )
    with pytest.raises(Unavailable):
        world.reconcile()
    assert world.condition() == {}
    world.time += timedelta(seconds=31)
    again = world.reconcile()
    assert world.condition()["reason"] == "RefusedByCluster"
    assert 'failed calling webhook "policies"' in world.condition()["message"]
    assert again is not None
    world.cluster.before = lambda *_: None
    world.reconcile()
    assert world.condition("Stalled") == {}
    assert world.exists("Deployment")


def test_a_resource_whose_surroundings_may_not_be_seen_says_so_and_keeps_its_counts() -> None:
    world = World().serving(spec__replicas=2)
    world.cache.drop_uid(Ref("Deployment", NAMESPACE, "chat"), world.get("Deployment")["metadata"]["uid"])
    again = asyncio.run(world.reconciler.refused((NAMESPACE, "chat"), "Deployment: deployments is forbidden"))
    assert again is not None
    assert (world.condition()["status"], world.condition()["reason"]) == ("False", "RefusedByCluster")
    assert "deployments is forbidden" in world.condition()["message"]
    status = world.get("LLMService")["status"]
    assert (status["replicaSummary"], world.condition("Available")["status"]) == ("2/2", "True")
    assert [write.split()[0] for write in world.writes()] == ["apply_status", "record"]


def test_nothing_is_reported_of_a_deleted_resource() -> None:
    assert asyncio.run(World().reconciler.refused((NAMESPACE, "chat"), "forbidden")) is None


def test_an_api_server_that_is_away_is_no_refusal() -> None:
    world = World()
    world.apply()
    world.fail("apply_new", "Deployment", Unavailable("Unreachable", "the API server cannot be reached"))
    for _ in range(3):
        with pytest.raises(Unavailable):
            world.reconcile()
        world.time += timedelta(seconds=60)


@pytest.mark.parametrize("verb", ["log_tail", "list"])
def test_a_node_that_does_not_answer_does_not_block_converging(verb: str) -> None:
    world = World().serving()
    engine = CRASHED if verb == "log_tail" else {"state": {"waiting": {"reason": "ContainerCreating"}}}
    with_pod(world, engine)

    def fail(called: str, _: Ref) -> None:
        if called == verb:
            raise Unavailable("InternalError", "Get https://10.0.0.7:10250/containerLogs: i/o timeout")

    world.cluster.before = fail
    world.apply(spec__maxNumSeqs=3)
    again = world.reconcile()
    assert world.get("LLMService")["status"]["observedGeneration"] == 2
    assert world.condition()["reason"] == {"log_tail": "CrashLooping", "list": "Starting"}[verb]
    assert again is not None


def test_each_termination_of_the_engine_is_diagnosed_from_its_own_log() -> None:
    world = World().serving()
    running = {"state": {"running": {}}, "lastState": {"terminated": an_end(0)}, "restartCount": 1}
    again = {"state": {"terminated": an_end(1)}, "restartCount": 1}
    world.cluster.logs = {(POD, "engine", True): "failed to open GGUF file 'a.gguf' (No such file or directory)\n"}
    with_pod(world, running)
    world.reconcile()
    assert world.condition()["reason"] == "ModelNotFound"
    world.cluster.logs = {(POD, "engine", False): "error: invalid argument: --x\n"}
    with_pod(world, again)
    world.reconcile()
    assert world.condition()["reason"] == "EngineArgumentRejected"


def test_a_log_that_was_asked_for_too_late_is_read_again_as_the_previous_one() -> None:
    world = World().serving()
    world.cluster.logs = {
        (POD, "engine", False): "loading the model",
        (POD, "engine", True): "failed to open GGUF file 'a.gguf' (No such file or directory)",
    }
    with_pod(world, CRASHED)
    world.reconcile()
    with_pod(world, {"state": {"running": {}}, "lastState": {"terminated": an_end(0)}, "restartCount": 1})
    world.reconcile()
    assert world.condition()["reason"] == "ModelNotFound"


def test_of_many_pods_those_that_are_judged_have_their_logs_read() -> None:
    world = World().serving(spec__replicas=6)
    for number in range(6):
        ref = Ref("Pod", NAMESPACE, f"chat-{number}")
        world.cluster.logs[ref, "engine", False] = "failed to open GGUF file 'a.gguf' (No such file or directory)\n"
        world.cluster.edit(ref, lambda live: live["status"].update(crashed_status()), subresource="status")
    world.reconcile()
    assert world.condition()["reason"] == "ModelNotFound"


def crashed_status() -> dict[str, Any]:
    return {
        "conditions": [{"type": "Ready", "status": "False"}],
        "containerStatuses": [{"name": "engine", "ready": False, **CRASHED}],
    }


def test_a_pod_that_its_node_ended_does_not_keep_a_suspension_from_its_end() -> None:
    world = World().serving()
    world.cluster.create(
        {**a_ready_pod("chat-old", "chat", world.replica_set()), "status": {"phase": "Failed", "reason": "Evicted"}}
    )
    world.apply(spec__suspend=True)
    world.reconcile()
    world.cluster.remove(POD)
    world.cluster.edit(
        Ref("Deployment", NAMESPACE, "chat"),
        lambda live: live.update(status={"observedGeneration": live["metadata"]["generation"], "replicas": 0}),
        subresource="status",
    )
    world.reconcile()
    assert (world.condition()["status"], world.condition()["reason"]) == ("True", "Suspended")


def test_the_edit_that_mends_a_stalled_resource_is_under_way_at_once() -> None:
    world = World()
    world.apply()
    world.reconcile()
    world.roll_out()
    with_pod(world, {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}})
    late = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}
    deployment = Ref("Deployment", NAMESPACE, "chat")
    world.cluster.edit(deployment, lambda live: live["status"].update(conditions=[late]), subresource="status")
    world.reconcile()
    assert world.condition("Stalled")["reason"] == "ImagePullFailed"
    world.apply(spec__maxNumSeqs=3)
    world.reconcile()
    assert world.get("LLMService")["status"]["observedGeneration"] == 2
    assert world.condition("Stalled") == {}
    assert world.condition("Reconciling")["status"] == "True"


def test_an_event_that_cannot_be_written_leaves_the_status_written() -> None:
    world = World().serving()
    with_pod(world, {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}})
    world.fail("record", "Event", OperatorError("Broken", "no events today"))
    world.reconcile()
    assert world.condition()["reason"] == "ImagePullFailed"


def test_a_pull_is_told_with_its_image_in_few_writes_and_no_event_of_its_own() -> None:
    world = with_pod(World().serving(), {"state": {"waiting": {"reason": "ContainerCreating"}}})
    uid = world.get("Pod", "chat-0")["metadata"]["uid"]
    world.cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"namespace": NAMESPACE, "name": "chat-0.1"},
            "involvedObject": {"uid": uid},
            "reason": "Pulling",
            "message": 'Pulling image "registry.test/engine:1"',
            "lastTimestamp": "2026-01-01T00:00:00Z",
        }
    )
    world.writes()
    for _ in range(60):
        world.time += timedelta(seconds=10)
        assert world.reconcile() is not None
    ready = world.condition()
    assert (ready["status"], ready["reason"]) == ("False", "Pulling")
    assert all(part in ready["message"] for part in ("registry.test/engine:1", "10m00s"))
    writes = world.writes()
    assert 2 <= sum(write.startswith("apply_status") for write in writes) <= 7
    assert sum(write.startswith("record") for write in writes) <= 1, "that it starts"
