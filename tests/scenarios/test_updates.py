"""A newer operator comes and goes again: what runs stays as it was made, until its user asks for more."""

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from llmservice.controllers.triggers import enqueue_owner
from llmservice.objects.names import SOURCE_ANNOTATION
from llmservice.objects.references import Manifest, Ref
from llmservice.planning import facts
from llmservice.planning.render_version import RENDER_VERSION
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.current_plans import CurrentPlans
from llmservice.reconcilers.work_queue import WorkQueue
from llmservice.reconcilers.workers import ServiceKey
from llmservice.rendering import deployment, pod
from tests.scenarios.test_knowing import unschedulable
from tests.scenarios.world import NAMESPACE, World
from tests.unit.planning.knowing import LLAMA_8B, vllm

NEXT = RENDER_VERSION + 1
NEW_FIELD = {"terminationGracePeriodSeconds": 777}


@contextlib.contextmanager
def newer_operator() -> Iterator[None]:
    """The next rendering exists, and gives every pod a field another value."""

    def template(plan: ServicePlan) -> Manifest:
        made = pod.pod_template(plan)
        return made if plan.render_version < NEXT else {**made, "spec": {**made["spec"], **NEW_FIELD}}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deployment, "pod_template", template)
        patch.setattr(facts, "RENDER_VERSION", NEXT)
        patch.setattr("llmservice.converging.updates.RENDER_VERSION", NEXT)
        patch.setattr(CurrentPlans, "has", lambda *_: False)  # a process of its own has compared nothing yet
        yield


def template_of(world: World) -> Any:
    """The pod template as it stands: what changes it restarts the model."""
    return world.get("Deployment")["spec"]["template"]


def annotate(world: World, value: str) -> None:
    """What `kubectl annotate llm chat llmservice.dev/update=VALUE` does."""
    ref = Ref("LLMService", NAMESPACE, "chat")
    world.cluster.edit(ref, lambda live: live["metadata"].update(annotations={"llmservice.dev/update": value}))


def test_a_newer_operator_leaves_the_pods_and_says_what_it_would_change() -> None:
    world = World().serving()
    before = template_of(world)
    with newer_operator():
        world.reconcile()
        assert template_of(world) == before
        condition = world.condition("UpdateAvailable")
        assert (condition["status"], condition["reason"]) == ("True", "NewerPlan")
        assert "Deployment.spec.template.spec.terminationGracePeriodSeconds;" in condition["message"]
        world.writes()
        world.reconcile()
        assert world.writes() == []


def test_the_older_operator_comes_back_and_changes_nothing() -> None:
    world = World().serving()
    before = template_of(world)
    with newer_operator():
        world.reconcile()
    world.reconcile()
    assert (template_of(world), world.condition("UpdateAvailable")) == (before, {})


@pytest.mark.parametrize("how", ["edit", "annotation"])
def test_the_newer_rendering_is_taken_when_asked_for(how: str) -> None:
    world = World().serving()
    with newer_operator():
        world.apply(spec__maxNumSeqs=2) if how == "edit" else annotate(world, "now")
        world.reconcile()
        assert template_of(world)["spec"]["terminationGracePeriodSeconds"] == 777
        assert world.get("Deployment")["metadata"]["annotations"]["llmservice.dev/render-version"] == str(NEXT)
        assert world.condition("UpdateAvailable") == {}


def test_an_annotation_is_worth_a_look() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    world = World().serving()
    world.cache.listen(lambda before, after: enqueue_owner(queue, before, after))
    annotate(world, "now")
    assert len(queue) == 1


def test_what_a_newer_operator_made_is_held_by_the_older_one() -> None:
    world = World()
    with newer_operator():
        world.serving()
        made, told = template_of(world), world.get("LLMService")["status"]["plan"]
    world.reconcile()
    assert template_of(world) == made
    assert world.get("LLMService")["status"]["plan"] == told
    condition = world.condition("UpdateAvailable")
    assert (condition["status"], condition["reason"]) == ("False", "MadeByNewerOperator")
    world.writes()
    world.reconcile()
    assert world.writes() == []


def test_an_older_operator_takes_no_other_devices_for_what_a_newer_one_made() -> None:
    world = World()
    with newer_operator():
        world.serving(**vllm(LLAMA_8B) | {"spec__gpu": {"type": "L4", "alternatives": [{"type": "A10G"}]}})
    unschedulable(world, seconds=1000)
    made = template_of(world)
    world.reconcile()
    world.reconcile()
    assert (template_of(world), world.get("LLMService")["status"]["plan"]["accelerator"]) == (made, "L4")


def test_the_older_operator_goes_on_with_an_edited_spec() -> None:
    world = World()
    with newer_operator():
        world.serving()
    world.apply(spec__maxNumSeqs=2)
    world.reconcile()
    assert template_of(world)["spec"]["terminationGracePeriodSeconds"] != 777
    assert world.condition("UpdateAvailable") == {}


def test_the_older_operator_repairs_what_is_gone_altogether() -> None:
    world = World()
    with newer_operator():
        world.serving()
    world.cluster.remove(Ref("Deployment", NAMESPACE, "chat"))
    world.reconcile()
    assert world.exists("Deployment")


def a_note() -> World:
    """An operator from before did not note what the template is made from: this one does, and no replica changes."""
    world = World().serving()

    def forget(live: Manifest) -> None:
        live["metadata"]["annotations"].pop(SOURCE_ANNOTATION)

    world.cluster.edit(Ref("Deployment", NAMESPACE, "chat"), forget)
    world.roll_out()
    world.writes()
    return world


def seen(world: World) -> None:
    """The Deployment controller has looked at the newest generation."""

    def look(live: Manifest) -> None:
        live["status"]["observedGeneration"] = live["metadata"]["generation"]

    world.cluster.edit(Ref("Deployment", NAMESPACE, "chat"), look, subresource="status")


def test_while_a_note_is_not_seen_the_status_says_nothing_new() -> None:
    world = a_note()
    told = world.get("LLMService")["status"]
    for _ in range(2):
        assert world.pass_once()
    assert world.writes() == ["apply Deployment chat"]
    seen(world)
    world.pass_once()
    assert world.writes() == []
    assert world.get("LLMService")["status"] == told


def test_a_note_that_nobody_sees_is_told() -> None:
    world = a_note()
    world.pass_once()
    world.time += timedelta(seconds=11)
    world.pass_once()
    assert (world.condition()["status"], world.condition()["reason"]) == ("False", "Progressing")


def test_an_edit_is_told_at_once_although_it_changes_no_pod() -> None:
    world = World().serving()
    world.apply(spec__startup={"timeoutSeconds": 500})
    world.pass_once()
    assert world.get("LLMService")["status"]["observedGeneration"] == world.get("LLMService")["metadata"]["generation"]
    assert world.condition()["status"] == "False"
