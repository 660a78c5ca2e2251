"""A revision that never becomes ready goes back to the one that served last: the reconciler on a cluster in a dict."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from llmservice.errors import Unavailable
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.llmservice import LLMServiceReconciler
from llmservice.reconcilers.scaling.scaled_services import ScaledServices
from llmservice.reconcilers.scaling.service_states import ServiceStates
from tests.cluster.kstatus import KStatus, kstatus
from tests.gitops.lua import health_of
from tests.scenarios.rollout_world import (
    DEPLOYMENT,
    READY,
    SERVICE,
    RolloutWorld,
    crashing,
    loading,
    unschedulable,
    waiting,
)
from tests.scenarios.test_updates import newer_operator
from tests.scenarios.world import NAMESPACE

IMAGE = "registry.example/engine:broken"
BAD: dict[str, Any] = {"spec__replicas": 2, "spec__engineOptions": {"image": IMAGE, "version": "b11312"}}
PEERS: dict[str, Any] = {"ingressFrom": []}
NOT_FOUND = waiting("ImagePullBackOff", "manifest unknown")


def image_of(world: RolloutWorld) -> str:
    """The image of the engine in the Deployment."""
    image: str = world.get("Deployment")["spec"]["template"]["spec"]["containers"][0]["image"]
    return image


def rollout_of(world: RolloutWorld) -> dict[str, Any]:
    rollout: dict[str, Any] = world.get("LLMService")["status"].get("rollout", {})
    return rollout


def events_of(world: RolloutWorld, reason: str = "RolledBack") -> list[Manifest]:
    return [event for event in asyncio.run(world.cluster.list("Event", NAMESPACE)) if event["reason"] == reason]


def failing(world: RolloutWorld, new: dict[str, Any] = NOT_FOUND, **changes: Any) -> RolloutWorld:
    """The second generation has begun: one pod of it, which is not ready, beside one that serves."""
    world.apply(**{**BAD, **changes})
    world.settle()
    world.step(new, old=1)
    world.settle()
    return world


def rolled_back() -> RolloutWorld:
    """The second generation has failed, and the first one serves again."""
    world = failing(RolloutWorld().first())
    world.step(NOT_FOUND, old=1, late=True)
    world.settle()
    world.step(READY, READY)
    world.settle()
    return world


def restart(world: RolloutWorld) -> None:
    """Another process takes over: nothing is remembered but what stands in the cluster."""
    before = world.reconciler
    world.reconciler = LLMServiceReconciler(
        cluster=before.cluster, cache=before.cache, observer=before.observer, plan=before.plan, now=before.now
    )


def test_what_is_rolled_out_is_remembered_and_nothing_is_written_after() -> None:
    world = RolloutWorld().first()
    assert rollout_of(world)["served"]["generation"] == 1
    world.settle()
    assert world.writes() == []


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (NOT_FOUND, "ImagePullFailed"),
        (crashing(9), "EngineArgumentRejected"),
        (unschedulable(), "Unschedulable"),
        (loading(), "Loading"),
        (waiting("ContainerCreating"), "Starting"),
    ],
    ids=["image", "crash", "no node", "never ready", "never started"],
)
def test_a_revision_that_is_not_ready_by_its_deadline_goes_back(new: dict[str, Any], reason: str) -> None:
    world = RolloutWorld().first()
    good = world.template_digest()
    failing(world, new)
    assert world.template_digest() != good
    assert rollout_of(world).get("failed") is None
    world.step(new, old=1, late=True)
    world.settle()
    assert world.template_digest() == good
    failed = rollout_of(world)["failed"]
    assert (failed["generation"], failed["reason"]) == (2, reason)
    assert (world.condition()["status"], world.condition("Available")["status"]) == ("False", "True")
    world.step(READY, READY)
    world.settle()
    assert (world.condition()["status"], world.condition()["reason"]) == ("True", "RolledBack")
    assert "generation 1" in world.condition()["message"]
    assert "generation 2" in world.condition()["message"]
    assert world.condition("Stalled")["reason"] == reason
    assert "generation 2" in world.condition("Stalled")["message"]


def test_it_is_told_once_and_then_nothing_is_written() -> None:
    world = rolled_back()
    assert [event["type"] for event in events_of(world)] == ["Warning"]
    world.writes()
    world.settle()
    restart(world)
    world.settle()
    assert world.writes() == []


def test_gitops_tools_see_a_generation_that_failed() -> None:
    body = rolled_back().get("LLMService")
    assert kstatus(body) is KStatus.FAILED
    assert health_of(body)["status"] == "Degraded"


@pytest.mark.parametrize(("restarts", "age", "back"), [(2, 600, False), (3, 60, False), (3, 120, True)])
def test_a_crash_that_no_time_helps_goes_back_before_the_deadline(restarts: int, age: int, *, back: bool) -> None:
    world = failing(RolloutWorld().first(), crashing(restarts))
    world.wait(age)
    again = world.settle()
    assert ("failed" in rollout_of(world)) is back
    assert (image_of(world) == IMAGE) is not back
    if restarts == 3 and not back:
        assert again == pytest.approx(60, abs=1)


def test_a_start_that_outlasts_its_budget_goes_back_before_the_deadline() -> None:
    world = RolloutWorld().first()
    good = world.template_digest()
    failing(world, loading(since=world.time), spec__startup={"timeoutSeconds": 600})
    world.wait(590)
    world.settle()
    assert world.template_digest() != good
    world.wait(20)
    world.settle()
    assert world.template_digest() == good
    assert rollout_of(world)["failed"]["reason"] == "StartupTimedOut"
    assert "600 s" in rollout_of(world)["failed"]["message"]


def test_a_crash_that_nobody_can_name_is_given_longer() -> None:
    world = failing(RolloutWorld().first(), crashing(5, "something went wrong"))
    world.wait(599)
    world.settle()
    assert "failed" not in rollout_of(world)
    world.wait(1)
    world.settle()
    assert rollout_of(world)["failed"]["reason"] == "CrashLooping"


def test_what_waits_is_not_given_up_before_the_deadline() -> None:
    world = failing(RolloutWorld().first(), waiting("CreateContainerConfigError", 'secret "words" not found'))
    world.wait(3600)
    world.settle()
    assert "failed" not in rollout_of(world)


def test_a_revision_of_which_a_replica_serves_is_not_given_up() -> None:
    world = RolloutWorld().first(replicas=3)
    world.apply(**{**BAD, "spec__replicas": 3})
    world.settle()
    world.step(READY, NOT_FOUND, old=1, late=True)
    world.settle()
    assert "failed" not in rollout_of(world)


def test_the_first_generation_has_nothing_to_return_to() -> None:
    world = RolloutWorld()
    world.apply(**BAD)
    world.settle()
    world.step(NOT_FOUND, NOT_FOUND, late=True)
    world.settle()
    assert rollout_of(world) == {}
    assert world.condition("Stalled")["reason"] == "ImagePullFailed"


def test_pods_that_an_edit_does_not_change_are_not_given_up() -> None:
    world = RolloutWorld().first()
    world.apply(spec__replicas=2, spec__rollout={"strategy": "Replace"})
    world.settle()
    world.step(NOT_FOUND, NOT_FOUND, late=True)
    world.settle()
    assert "failed" not in rollout_of(world)


def test_what_does_not_go_with_the_newest_bounds_is_not_returned_to() -> None:
    """The earlier engine reports no KV cache, which the newest autoscaling is by."""
    kv: dict[str, Any] = {"maxReplicas": 2, "policy": "Threshold", "targets": {"kvCachePercent": 50}}
    vllm: dict[str, Any] = {"spec__engine": "vllm", "spec__model": {"uri": "hf://acme/chat-7B"}, "spec__replicas": None}
    world = RolloutWorld().first()
    world.apply(**vllm, spec__autoscaling=kv)
    world.settle()
    world.step(NOT_FOUND, old=1, late=True)
    world.settle()
    assert "failed" not in rollout_of(world)
    assert world.condition("Stalled")["reason"] == "ImagePullFailed"


def test_a_change_that_is_to_be_held_stays() -> None:
    world = failing(RolloutWorld().first(), spec__rollout={"onFailure": "Hold"})
    world.step(NOT_FOUND, old=1, late=True)
    world.settle()
    assert "failed" not in rollout_of(world)
    assert world.condition("Stalled")["reason"] == "ImagePullFailed"


def test_one_replica_is_gone_and_comes_back() -> None:
    world = RolloutWorld().first(replicas=1)
    world.apply(**{**BAD, "spec__replicas": 1})
    world.settle()
    world.step(NOT_FOUND, late=True)
    world.settle()
    assert world.condition("Available")["status"] == "False"
    world.step(loading())
    world.settle()
    assert (world.condition()["reason"], world.condition("Stalled")["reason"]) == ("Loading", "ImagePullFailed")
    world.step(READY)
    world.settle()
    assert world.condition()["reason"] == "RolledBack"


def test_the_way_back_waits_for_no_device() -> None:
    """One more replica first, which fails beside the one that serves: no other device is free, and none is needed."""
    gpu = {"spec__gpu": {"type": "L4"}, "spec__rollout": {"allowDowntime": False}}
    world = RolloutWorld().first(replicas=1, **gpu)
    good = world.template_digest()
    world.apply(**{**BAD, **gpu, "spec__replicas": 1})
    world.settle()
    assert world.get("Deployment")["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    world.step(NOT_FOUND, old=1, late=True)
    world.settle()
    assert world.template_digest() == good
    world.step(READY)
    world.settle()
    assert world.condition()["reason"] == "RolledBack"


def test_any_edit_is_tried() -> None:
    world = rolled_back()
    world.apply(**{**BAD, "spec__maxNumSeqs": 2})
    world.settle()
    assert image_of(world) == IMAGE
    assert "failed" not in rollout_of(world)
    assert world.condition("Stalled") == {}
    world.step(READY, READY)
    world.settle()
    assert (world.condition()["reason"], rollout_of(world)["served"]["generation"]) == ("Ready", 3)


def test_a_second_failure_returns_to_the_same_revision() -> None:
    world = rolled_back()
    good = world.template_digest()
    for number in (3, 4):
        failing(world, spec__maxNumSeqs=number)
        world.step(NOT_FOUND, old=1, late=True)
        world.settle()
        assert world.template_digest() == good
        world.step(READY, READY)
        world.settle()
        assert rollout_of(world)["failed"]["generation"] == number
        assert rollout_of(world)["served"]["generation"] == 1
    assert len(events_of(world)) == 3


def test_several_edits_in_a_row_return_to_what_served() -> None:
    world = RolloutWorld().first()
    good = world.template_digest()
    for number in (2, 3, 4, 5):
        failing(world, spec__maxNumSeqs=number)
    world.step(NOT_FOUND, old=1, late=True)
    world.settle()
    assert world.template_digest() == good
    assert rollout_of(world)["failed"]["generation"] == 5


@pytest.mark.parametrize("what", ["restart", "scale", "autoscaling", "network policy", "node", "replica sets gone"])
def test_nothing_but_an_edit_of_what_runs_tries_it_again(what: str) -> None:
    world = rolled_back()
    good = world.template_digest()
    if what == "restart":
        restart(world)
    elif what == "scale":
        world.apply(**{**BAD, "spec__replicas": 3})
    elif what == "autoscaling":
        world.apply(**{**BAD, "spec__replicas": None, "spec__autoscaling": {"minReplicas": 2, "maxReplicas": 5}})
    elif what == "network policy":
        world.apply(**BAD, spec__networkPolicy=PEERS)
    elif what == "node":
        world.step(READY, waiting("ContainerCreating"), late=True)
        world.settle()
    else:
        for item in asyncio.run(world.cluster.list("ReplicaSet", NAMESPACE)):
            world.cluster.remove(Ref("ReplicaSet", NAMESPACE, item["metadata"]["name"]))
    world.settle()
    world.settle()
    assert world.template_digest() == good
    assert world.condition("Stalled")["status"] == "True"
    assert rollout_of(world)["failed"]["generation"] == 2


def test_replicas_and_network_policy_follow_the_newest_spec() -> None:
    world = rolled_back()
    world.apply(**{**BAD, "spec__replicas": 3}, spec__networkPolicy=PEERS)
    world.settle()
    assert world.get("Deployment")["spec"]["replicas"] == 3
    assert world.exists("NetworkPolicy")
    assert image_of(world) != IMAGE
    assert world.get("LLMService")["status"]["observedGeneration"] == 3


def test_the_plan_that_is_told_is_that_of_what_serves() -> None:
    plan = rolled_back().get("LLMService")["status"]["plan"]
    assert plan["generation"] == 1
    assert plan["image"] != IMAGE


def test_the_autoscaler_plans_by_what_serves_and_within_the_newest_bounds() -> None:
    world = RolloutWorld().first(spec__maxNumSeqs=3)
    services = ScaledServices(cache=world.cache, states=ServiceStates(), plan=world.reconciler.plan)
    bad = {**BAD, "spec__replicas": None, "spec__maxNumSeqs": 9}
    failing(world, **bad, spec__autoscaling={"minReplicas": 2, "maxReplicas": 5})
    before = services.find((NAMESPACE, "chat"))
    world.step(NOT_FOUND, old=1, late=True)
    world.settle()
    back = services.find((NAMESPACE, "chat"))
    world.apply(**bad, spec__autoscaling={"minReplicas": 2, "maxReplicas": 7})
    wider = services.find((NAMESPACE, "chat"))
    assert before is not None
    assert back is not None
    assert wider is not None
    assert [each.plan.max_num_seqs for each in (before, back, wider)] == [9, 3, 3]
    assert [each.scaling.maximum for each in (before, back, wider)] == [5, 5, 7]


def test_a_suspension_and_its_end_stay_with_what_served() -> None:
    world = rolled_back()
    good = world.template_digest()
    world.apply(**BAD, spec__suspend=True)
    world.settle()
    world.step()
    world.settle()
    assert (world.condition()["reason"], world.condition("Stalled")) == ("Suspended", {})
    world.apply(**BAD)
    world.settle()
    assert world.get("Deployment")["spec"]["replicas"] == 2
    assert world.template_digest() == good
    assert world.condition("Stalled")["status"] == "True"


def test_a_foreign_edit_of_what_was_returned_to_is_repaired() -> None:
    world = rolled_back()
    good = world.template_digest()

    def change(live: Manifest) -> None:
        live["spec"]["template"]["spec"]["containers"][0]["image"] = "other"

    world.cluster.edit(DEPLOYMENT, change)
    world.settle()
    assert world.template_digest() == good


def test_what_served_may_fail_too_and_then_both_are_told() -> None:
    world = failing(RolloutWorld().first())
    world.step(NOT_FOUND, old=0, late=True)
    world.settle()
    lost = waiting("CreateContainerConfigError", 'secret "words" not found')
    for _ in range(3):
        world.step(lost, lost, late=True)
        world.settle()
        assert image_of(world) != IMAGE
    assert world.condition()["reason"] == "SecretNotFound"
    assert world.condition("Stalled")["reason"] == "ImagePullFailed"
    world.writes()
    world.settle()
    assert world.writes() == []


def test_a_gap_in_the_cache_does_not_try_it_again() -> None:
    world = rolled_back()
    good = world.template_digest()
    world.cache.drop_uid(DEPLOYMENT, world.get("Deployment")["metadata"]["uid"])
    world.settle()
    assert world.template_digest() == good


def test_a_deployment_that_is_deleted_is_made_from_the_newest_spec() -> None:
    world = rolled_back()
    world.cluster.remove(DEPLOYMENT)
    world.settle()
    assert image_of(world) == IMAGE


def test_a_newer_operators_rendering_is_no_revision() -> None:
    world = RolloutWorld().first()
    good = world.template_digest()
    with newer_operator():
        world.settle()
        world.step(NOT_FOUND, old=1, late=True)
        world.settle()
        assert (world.template_digest(), "failed" in rollout_of(world)) == (good, False)


def test_a_rollback_survives_a_newer_operator_and_the_way_back() -> None:
    world = rolled_back()
    good = world.template_digest()
    with newer_operator():
        world.settle()
        assert world.template_digest() == good
    world.settle()
    assert world.template_digest() == good


def test_the_facts_of_what_served_come_back_with_it() -> None:
    """Asked for by annotation: the spec is the same, what the operator makes of it is not."""
    world = RolloutWorld().first()
    good = world.template_digest()
    with newer_operator():
        world.cluster.edit(SERVICE, lambda live: live["metadata"].update(annotations={"llmservice.dev/update": "now"}))
        world.settle()
        assert world.template_digest() != good
        world.step(NOT_FOUND, old=1, late=True)
        world.settle()
        assert world.template_digest() == good


def kills() -> Iterator[int]:
    return iter(range(1, 12))


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_an_operator_that_is_killed_at_any_write_ends_in_the_same_state(*, after: bool) -> None:
    expected = rolled_back()
    for nth in kills():
        world = RolloutWorld()
        if not played(world, nth, after=after):
            break
        assert world.template_digest() == expected.template_digest()
        assert world.condition()["reason"] == "RolledBack"
        assert rollout_of(world)["failed"]["generation"] == 2
        assert rollout_of(world)["served"] == rollout_of(expected)["served"]
    assert nth > 3


def played(world: RolloutWorld, nth: int, *, after: bool) -> bool:
    """The story of a rollback with the operator killed at the nth write; False when it has no such write."""
    failing(world.first())
    left = [nth]

    def before(_: str, ref: Ref) -> None:
        written = len(world.cluster.writes)
        if left[0] and ref.kind != "Event" and written >= left[0] - (0 if after else 1):
            left[0] = 0
            raise Unavailable("Killed", "the process is gone")

    world.writes()
    world.cluster.before = before
    for new, old, late in (((NOT_FOUND,), 1, True), ((READY, READY), 0, False)):
        world.step(*new, old=old, late=late)
        try:
            world.settle()
        except Unavailable:
            restart(world)
            world.settle()
    world.cluster.before = lambda *_: None
    world.settle()
    return left[0] == 0
