"""A model is known before a device is taken: inspected, refused, or moved on to other devices."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.converging.patience import PATIENCE_SECONDS
from llmservice.models.inspection_failure import FailureReason, InspectionFailure
from llmservice.models.model_facts import ModelFacts
from llmservice.objects.names import UPDATE_ANNOTATION
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.inspections import FAILED_SECONDS, Inspected
from tests.scenarios.world import NAMESPACE, World
from tests.unit.planning.knowing import LLAMA_8B, vllm

_OWN = vllm("acme/own", "L4")
_FACTS = ModelFacts(layers=4, hidden_size=64, heads=4, kv_heads=4, head_size=16, vocabulary=100, longest_context=512)
_CHAT, _POD = Ref("LLMService", NAMESPACE, "chat"), Ref("Pod", NAMESPACE, "chat-0")


class Looks:
    """Answers in their order, the last one for ever; `asked` counts."""

    def __init__(self, *answers: Inspected) -> None:
        self.answers, self.asked = [*answers], 0

    async def __call__(self, service: LLMService) -> Inspected:
        assert service.spec.model.uri == "acme/own"
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def _world(*answers: Inspected, **changes: Any) -> tuple[World, Looks]:
    world, looks = World(), Looks(*answers)
    world.reconciler.inspect = looks
    world.apply(**(changes or _OWN))
    return world, looks


def _reason(world: World, kind: str = "Ready") -> str:
    return str(world.condition(kind).get("reason", ""))


def test_nothing_is_made_while_a_model_is_inspected() -> None:
    world, looks = _world(Inspected(again_seconds=1.0), Inspected(facts=_FACTS))
    assert world.reconcile() == 1.0
    assert not world.exists("Deployment")
    assert (_reason(world), world.condition("Reconciling")["status"]) == ("Inspecting", "True")
    world.reconcile()
    assert world.exists("Deployment")
    assert world.get("LLMService")["status"]["plan"]["maxModelLen"] == 512
    asked = looks.asked
    world.reconcile()
    assert looks.asked == asked


@pytest.mark.parametrize("how", ["edit", "annotation"])
def test_what_was_found_serves_the_next_plans_of_the_same_model(how: str) -> None:
    world, looks = _world(Inspected(facts=_FACTS), Inspected(facts=_FACTS), Inspected(note="no route"))
    world.reconcile()
    world.roll_out()
    template = world.get("Deployment")["spec"]["template"]
    if how == "edit":
        world.apply(**_OWN, spec__replicas=3)
    else:
        world.cluster.edit(_CHAT, lambda live: live["metadata"].update(annotations={UPDATE_ANNOTATION: "now"}))
    asked = looks.asked
    world.reconcile()
    assert (looks.asked, world.get("Deployment")["spec"]["template"]) == (asked, template)


@pytest.mark.parametrize(
    ("changes", "again"),
    [({"spec__model__revision": "v2"}, True), ({"spec__quantization": "fp8"}, True), ({}, False)],
)
def test_another_model_is_looked_at_again(changes: dict[str, Any], again: bool) -> None:
    world, looks = _world(Inspected(facts=_FACTS))
    world.reconcile()
    asked = looks.asked
    world.apply(**_OWN, **changes, spec__maxNumSeqs=7)
    world.reconcile()
    assert (looks.asked > asked) is again


def test_who_wants_no_inspection_keeps_nothing_of_an_earlier_one() -> None:
    world, _ = _world(Inspected(facts=_FACTS), Inspected(facts=_FACTS), Inspected())
    world.reconcile()
    world.apply(**_OWN, spec__model__inspect="Never")
    world.reconcile()
    assert world.get("LLMService")["status"]["plan"]["maxModelLen"] == 0


def test_who_asks_for_an_update_of_an_unknown_model_has_it_looked_at_again() -> None:
    world, looks = _world(Inspected(note="no route"))
    world.reconcile()
    looks.answers = [Inspected(facts=_FACTS)]
    world.cluster.edit(_CHAT, lambda live: live["metadata"].update(annotations={UPDATE_ANNOTATION: "now"}))
    world.reconcile()
    assert world.get("LLMService")["status"]["plan"]["maxModelLen"] == 512


def test_known_models_are_not_inspected() -> None:
    world, looks = _world(Inspected(facts=_FACTS), **vllm(LLAMA_8B, "L4"))
    world.reconcile()
    assert (looks.asked, world.exists("Deployment")) == (0, True)


def test_what_cannot_be_loaded_is_named_and_looked_at_again() -> None:
    gated = InspectionFailure(FailureReason.GATED, "acme/own is gated")
    world, _ = _world(Inspected(failure=gated), Inspected(facts=_FACTS))
    assert world.reconcile() == FAILED_SECONDS
    assert (_reason(world), _reason(world, "Stalled")) == ("ModelAccessDenied", "ModelAccessDenied")
    assert not world.exists("Deployment")
    world.reconcile()
    assert world.exists("Deployment")
    assert world.condition("Stalled") == {}


def test_without_an_answer_it_runs_without_facts_and_says_so() -> None:
    throttled = InspectionFailure(FailureReason.THROTTLED, "429")
    for answer in (Inspected(note="no route"), Inspected(failure=throttled)):
        world, _ = _world(answer)
        world.reconcile()
        assert world.exists("Deployment")
        (note, *_) = world.get("LLMService")["status"]["plan"]["notes"]
        assert "no route" in note or "429" in note
        assert world.condition("Fits")["status"] == "Unknown"


def test_a_model_too_large_by_its_inspection_takes_no_device() -> None:
    huge = replace(_FACTS, file_bytes=400 * 2**30)
    world, _ = _world(Inspected(facts=huge))
    world.reconcile()
    assert not world.exists("Deployment")
    assert (_reason(world), world.condition("Fits")["status"]) == ("DoesNotFit", "False")


def test_the_condition_goes_with_its_cause() -> None:
    world, _ = _world(Inspected(), **vllm("Qwen/Qwen2.5-72B-Instruct", "T4"))
    world.reconcile()
    assert _reason(world, "Fits") == "DoesNotFit"
    world.apply(**vllm(LLAMA_8B, "H100"))
    world.reconcile()
    assert (_reason(world, "Fits"), world.condition("Stalled")) == ("Fits", {})


def unschedulable(world: World, *, seconds: float) -> None:
    since = (world.time - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}

    def change(live: Manifest) -> None:
        live["status"]["conditions"] = [{**said, "lastTransitionTime": since}]
        live["status"].pop("containerStatuses", None)
        live["spec"].pop("nodeName", None)

    world.cluster.edit(_POD, change, subresource="status")


def _with_alternatives() -> World:
    gpu = {"type": "L4", "alternatives": [{"type": "A10G"}, {"type": "L40S", "count": 2}]}
    return World().serving(**vllm(LLAMA_8B) | {"spec__gpu": gpu})


def _accelerator(world: World) -> str:
    return str(world.get("LLMService")["status"]["plan"]["accelerator"])


def test_after_patience_the_next_type_is_taken_and_the_status_says_so() -> None:
    world = _with_alternatives()
    unschedulable(world, seconds=290)
    again = world.reconcile()
    assert again is not None
    assert 0 < again <= 10
    assert _accelerator(world) == "L4"
    unschedulable(world, seconds=301)
    world.reconcile()
    world.reconcile()
    assert _accelerator(world) == "A10G"
    assert world.get("LLMService")["status"]["plan"]["notes"][0].startswith("L4 ")
    terms = world.get("Deployment")["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    assert "A10G" in str(terms)


def test_pods_of_the_devices_before_say_nothing_about_the_next() -> None:
    world = _with_alternatives()
    unschedulable(world, seconds=1000)
    for _ in range(3):
        world.reconcile()
    assert _accelerator(world) == "A10G"
    world.roll_out()
    unschedulable(world, seconds=1000)
    world.reconcile()
    assert _accelerator(world) == "L40S"
    assert world.get("Deployment")["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"] == {
        "nvidia.com/gpu": "2"
    }


def test_a_pod_that_found_a_node_keeps_the_type() -> None:
    world = _with_alternatives()
    world.reconcile()
    assert _accelerator(world) == "L4"


def test_replicas_that_still_finish_requests_hold_the_devices_that_the_next_ones_wait_for() -> None:
    world = _with_alternatives()
    old = world.get("Pod", "chat-0")
    unschedulable(world, seconds=1000)
    leaving = Ref("Pod", NAMESPACE, "chat-old")
    kept = {key: old["metadata"][key] for key in ("labels", "ownerReferences", "namespace")}
    metadata = {**kept, "name": leaving.name, "finalizers": ["example.com/requests"]}
    world.cluster.create({**old, "metadata": metadata, "spec": {**old["spec"], "nodeName": "n"}})
    world.cluster.remove(leaving)
    world.reconcile()
    world.cluster.edit(leaving, lambda live: live["metadata"].update(finalizers=[]))
    assert world.reconcile() == PATIENCE_SECONDS
    assert _accelerator(world) == "L4"
    world.time += timedelta(seconds=PATIENCE_SECONDS + 1)
    world.reconcile()
    assert _accelerator(world) == "A10G"
