"""Replicas that run are looked after while the model of the next revision is downloaded."""

from datetime import timedelta
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition
from llmservice.converging.scaling_report import ScalingReport
from llmservice.errors import Unavailable
from llmservice.objects.names import STARTING_ANNOTATION
from llmservice.objects.references import Manifest, Ref
from tests.scenarios.downloading import SHARED, DownloadWorld, a_download
from tests.scenarios.rollout_world import LATE
from tests.scenarios.world import NAMESPACE

OTHER: dict[str, Any] = {**SHARED, "spec__model__file": "other.gguf"}


def a_world_that_waits(**changes: Any) -> DownloadWorld:
    """Replicas serve, and the model of the next revision is downloaded."""
    world = a_download(**changes)
    world.answers()
    world.serves()
    world.apply(**{**OTHER, **changes})
    world.passes()
    assert world.condition()["reason"] == "Downloading"
    world.writes()
    return world


def children(world: DownloadWorld) -> list[str]:
    """What was written, without the status."""
    return [write for write in world.writes() if "LLMService" not in write]


def test_children_that_are_deleted_come_back() -> None:
    world = a_world_that_waits()
    before = world.get("Deployment")["spec"]
    world.cluster.remove(Ref("Service", NAMESPACE, "chat"))
    world.passes(seconds=30)
    assert world.exists("Service")
    assert world.get("Deployment")["spec"] == before
    assert world.condition()["reason"] == "Downloading"


def test_replicas_follow_the_spec_and_the_template_stays() -> None:
    world = a_world_that_waits(spec__replicas=1)
    template = world.get("Deployment")["spec"]["template"]
    world.apply(**OTHER, spec__replicas=3)
    world.passes()
    spec = world.get("Deployment")["spec"]
    assert (spec["replicas"], spec["template"]) == (3, template)
    assert children(world) == ["apply_new PodDisruptionBudget chat", "apply Deployment chat"]
    world.passes(seconds=60)
    assert children(world) == []


def test_a_replica_that_has_started_gives_its_node_free() -> None:
    world = a_world_that_waits()
    pod = Ref("Pod", NAMESPACE, "chat-0")

    def place(live: Manifest) -> None:
        live["spec"]["nodeName"] = "node-1"
        live["metadata"]["annotations"] = {}
        live["status"]["conditions"] = [{"type": "Ready", "status": "False"}]

    def start(live: Manifest) -> None:
        live["status"]["conditions"] = [{"type": "Ready", "status": "True"}]

    world.cluster.edit(pod, place)
    world.passes(seconds=60)
    assert STARTING_ANNOTATION in world.get("Pod", "chat-0")["metadata"]["annotations"]
    world.cluster.edit(pod, start)
    world.passes(seconds=60)
    assert STARTING_ANNOTATION not in world.get("Pod", "chat-0")["metadata"].get("annotations", {})


def test_what_cannot_be_repaired_keeps_no_download_from_being_told() -> None:
    world = a_world_that_waits()
    world.cluster.remove(Ref("Service", NAMESPACE, "chat"))
    world.fail("apply", "Service", Unavailable("InternalError", "a webhook does not answer"))
    world.passes(seconds=30)
    assert world.condition()["reason"] == "Downloading"


def test_a_service_of_which_nothing_runs_is_left_alone() -> None:
    world = a_world_that_waits(spec__suspend=None)
    world.cluster.remove(Ref("Pod", NAMESPACE, "chat-0"))
    world.cluster.remove(Ref("Service", NAMESPACE, "chat"))
    world.time += timedelta(seconds=60)
    world.pass_once()
    assert not world.exists("Service")


def test_a_restarted_operator_goes_on_writing_nothing() -> None:
    world = a_world_that_waits()
    world.restart()
    world.reconciler.tending.forget(world.get("LLMService")["metadata"]["uid"])
    world.passes(seconds=60)
    assert children(world) == []


def test_what_engines_do_and_what_the_autoscaler_decides_is_told_meanwhile() -> None:
    world = a_world_that_waits(spec__autoscaling={"maxReplicas": 4})
    stalled = Condition(
        type=ConditionType.ENGINE_PROGRESSING, status=False, reason=Reason.ENGINE_STALLED, message="it hangs"
    )
    active = Condition(type=ConditionType.SCALING_ACTIVE, status=True, reason=Reason.AT_MAXIMUM, message="it follows")
    report = ScalingReport(replicas=3, reason="Steady", message="three", conditions=(active,))
    world.reconciler.engine = lambda *_: stalled
    world.reconciler.scaling = lambda _: report
    world.passes(seconds=30)
    status = world.get("LLMService")["status"]
    assert world.condition("EngineProgressing")["reason"] == "EngineStalled"
    assert (world.condition("ScalingActive")["status"], status["autoscaling"]["replicas"]) == ("True", 3)
    assert world.condition()["reason"] == "Downloading"
    world.writes()
    world.pass_once()
    assert world.writes() == []


def test_a_deployment_that_is_deleted_comes_back_as_it_was() -> None:
    world = a_world_that_waits(spec__replicas=2)
    before = world.get("Deployment")["spec"]
    world.passes(seconds=30)
    world.cluster.remove(Ref("Deployment", NAMESPACE, "chat"))
    world.passes(seconds=30)
    assert world.get("Deployment")["spec"] == before
    assert world.condition()["reason"] == "Downloading"
    world.writes()
    world.passes(seconds=30)
    assert children(world) == []


def test_what_a_deleted_deployment_was_made_from_is_forgotten_with_the_process() -> None:
    world = a_world_that_waits()
    world.reconciler.tending.forget(world.get("LLMService")["metadata"]["uid"])
    world.cluster.remove(Ref("Deployment", NAMESPACE, "chat"))
    world.passes(seconds=60)
    assert not world.exists("Deployment")
    assert world.condition()["reason"] == "Downloading"


def a_failing_change(**changes: Any) -> DownloadWorld:
    """What serves is replaced by what does not start, and the model of a third revision is downloaded."""
    world = a_download()
    world.answers()
    world.serves()
    options = {"image": "registry.example/engine:1", "version": "b11312"}
    world.apply(**{**SHARED, "spec__engineOptions": options, **changes})
    world.passes()
    waits = {"name": "engine", "ready": False, "state": {"waiting": {"reason": "ImagePullBackOff", "message": "none"}}}
    status = {"conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [waits]}
    world.cluster.edit(Ref("Pod", NAMESPACE, "chat-0"), lambda live: live["status"].update(status))
    deployment = world.get("Deployment")
    counts = {"observedGeneration": deployment["metadata"]["generation"], "replicas": 1, "updatedReplicas": 1}
    world.cluster.edit(
        Ref("Deployment", NAMESPACE, "chat"),
        lambda live: live.update(status={**counts, "conditions": [LATE]}),
        subresource="status",
    )
    return world


def image_of(world: DownloadWorld) -> str:
    (engine,) = world.get("Deployment")["spec"]["template"]["spec"]["containers"]
    return str(engine["image"])


def test_a_change_that_fails_goes_back_while_the_next_model_is_downloaded() -> None:
    world = a_failing_change()
    assert image_of(world) == "registry.example/engine:1"
    world.apply(**OTHER)
    world.passes(seconds=30)
    assert image_of(world) != "registry.example/engine:1"
    assert world.condition()["reason"] == "Downloading"
    (told,) = [event for event in world.events() if event["reason"] == "RolledBack"]
    assert "registry.example/engine:1" in told["message"]
    assert "failed" not in world.get("LLMService")["status"].get("rollout", {})
    world.writes()
    world.passes(seconds=30)
    assert children(world) == []


def test_a_change_that_is_to_be_held_stays_while_the_next_model_is_downloaded() -> None:
    world = a_failing_change(spec__rollout={"onFailure": "Hold"})
    world.apply(**OTHER)
    world.passes(seconds=30)
    assert image_of(world) == "registry.example/engine:1"
