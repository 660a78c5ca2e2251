"""A change that waits: until it is written, everything that is told and decided is about the replicas that run."""

from typing import Any

from llmservice.objects.references import Manifest, Ref
from llmservice.planning.facts import pinned_facts
from tests.scenarios.scaled_world import ScaledWorld
from tests.scenarios.world import NAMESPACE, World

KEY = (NAMESPACE, "chat")
HELD: dict[str, Any] = {"spec__rollout": {"strategy": "Replace", "allowDowntime": False}}
BEFORE: dict[str, Any] = {**HELD, "spec__maxNumSeqs": 4, "spec__model__names": ["before"]}
AFTER: dict[str, Any] = {**HELD, "spec__maxNumSeqs": 9, "spec__model__names": ["after"]}


def a_held_change(**changes: Any) -> World:
    """One replica that may not go, and an edit that would take it away."""
    world = World().serving(**BEFORE)
    world.apply(**{**AFTER, **changes})
    world.reconcile()
    assert world.condition("Reconciling")["reason"] == "RolloutBlocked"
    return world


def test_the_status_tells_of_what_runs() -> None:
    world = World().serving(**BEFORE)
    before = world.get("LLMService")["status"]
    world.apply(**AFTER)
    world.reconcile()
    status = world.get("LLMService")["status"]
    assert (status["plan"], status["models"]) == (before["plan"], ["before"])
    assert status["plan"]["maxNumSeqs"] == 4
    assert "before" in world.condition()["message"]
    assert "after" not in world.condition()["message"]


def test_a_second_look_writes_nothing_and_the_change_goes_on_when_it_may() -> None:
    world = a_held_change()
    world.writes()
    assert world.pass_once()
    assert world.writes() == []
    world.apply(**{**AFTER, "spec__rollout": {"strategy": "Replace", "allowDowntime": True}})
    world.reconcile()
    status = world.get("LLMService")["status"]
    assert (status["plan"]["maxNumSeqs"], status["models"]) == (9, ["after"])
    assert status["plan"]["generation"] == world.get("LLMService")["metadata"]["generation"]


def test_the_autoscaler_decides_by_what_runs() -> None:
    world = ScaledWorld()
    bounds = {"minReplicas": 1, "maxReplicas": 4, "policy": "Threshold", "targets": {"runningRequests": 4}}
    world.apply(**BEFORE, spec__autoscaling=bounds)
    world.reconcile()
    world.settle()
    world.tick(2)
    before = world.state.digest
    world.apply(**AFTER, spec__autoscaling={**bounds, "maxReplicas": 3})
    world.reconcile()
    assert world.condition("Reconciling")["reason"] == "RolloutBlocked"
    world.round()
    found = world.autoscaler.services.find(KEY)
    assert found is not None
    assert (found.plan.max_num_seqs, found.plan.names, found.scaling.maximum) == (4, ("before",), 3)
    assert world.state.digest == before
    world.lead()
    world.round()
    found = world.autoscaler.services.find(KEY)
    assert found is not None
    assert found.plan.max_num_seqs == 4


def test_facts_of_a_change_that_waits_are_kept_apart_and_planned_from_again() -> None:
    world = a_held_change()
    body = world.get("LLMService")
    waiting = body["status"]["rollout"]["waiting"]
    assert waiting["generation"] == body["metadata"]["generation"] != body["status"]["plan"]["generation"]
    assert pinned_facts(body["status"], waiting["generation"]) == waiting["facts"]
    world.apply(**BEFORE)
    world.reconcile()
    assert "waiting" not in world.get("LLMService")["status"]["rollout"]


def test_devices_of_a_change_that_waits_are_not_missed_by_engines_that_have_none() -> None:
    world = a_held_change(spec__gpu={"type": "L4", "count": 1})
    assert world.condition("AcceleratorInUse") == {}
    assert world.condition("ChildrenModified") == {}
    assert world.condition()["status"] == "True"
    assert world.get("LLMService")["status"]["plan"]["devices"] == 0


def test_a_foreign_edit_of_what_runs_is_repaired_while_the_change_waits() -> None:
    world = a_held_change()
    template = world.get("Deployment")["spec"]["template"]

    def meddle(live: Manifest) -> None:
        live["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1

    world.cluster.edit(Ref("Deployment", NAMESPACE, "chat"), meddle, manager="kubectl-edit")
    world.writes()
    world.pass_once()
    assert world.get("Deployment")["spec"]["template"] == template
    world.roll_out()
    world.reconcile()
    assert world.condition("Reconciling")["reason"] == "RolloutBlocked"
    world.writes()
    world.pass_once()
    assert world.writes() == []
