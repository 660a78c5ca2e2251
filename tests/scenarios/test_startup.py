"""Starts on an in-memory cluster: told by phases, learned from, and no reason to touch a pod."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.llmservice import LLMServiceReconciler
from llmservice.reconcilers.observing import Observer
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.rendering.manifests import CHILD_KINDS
from tests.scenarios.scaled_world import RUNNING, ScaledWorld
from tests.scenarios.world import NAMESPACE, World, controlled_by
from tests.unit.converging.starting import ready_after, starting
from tests.unit.engines.test_start_times import LOGS

HUB_LOG = (LOGS / "llamacpp-b11312-hub.txt").read_text("utf-8")
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def put(world: World, pod: Manifest, seconds: float) -> list[str]:
    """The pod as it is so many seconds after the beginning, and a pass; returns what was written."""
    replica_set = world.replica_set()
    pod["metadata"] |= {"namespace": NAMESPACE, "ownerReferences": [controlled_by(replica_set)]}
    ref = Ref("Pod", NAMESPACE, pod["metadata"]["name"])
    if world.cluster.peek(ref) is None:
        world.cluster.create(pod)
    else:
        world.cluster.edit(ref, lambda live: live.update(status=pod["status"]), subresource="status")
    world.time = BEGIN + timedelta(seconds=seconds)
    world.writes()
    world.reconcile()
    return world.writes()


def rolled_out(world: World, ready: int) -> None:
    """What the Deployment's controller reports."""
    deployment = world.get("Deployment")
    wanted = deployment["spec"]["replicas"]

    def report(live: Manifest) -> None:
        counts = {"replicas": wanted, "updatedReplicas": wanted, "readyReplicas": ready}
        live["status"] = {"observedGeneration": live["metadata"]["generation"], **counts}

    ref = Ref("Deployment", NAMESPACE, "chat")
    world.cluster.edit(ref, report, manager="kube-controller-manager", subresource="status")


def a_world(**changes: Any) -> World:
    world = World()
    world.time = BEGIN
    world.apply(**changes)
    world.reconcile()
    rolled_out(world, 0)
    return world


def startup(world: World) -> dict[str, Any]:
    found: dict[str, Any] = world.get("LLMService")["status"].get("startup", {})
    return found


def events(world: World) -> list[tuple[str, str]]:
    """Reason and message of every Event, in the order in which they were told."""
    found = [item for ref, item in world.cluster._objects.items() if ref.kind == "Event"]
    return [(item["reason"], item["message"]) for item in sorted(found, key=lambda item: item["metadata"]["name"])]


def through_a_start(world: World, name: str = "chat-1", begin: float = 0, ready: float = 113) -> None:
    """One pod from created to ready; its engine starts after 50 s."""
    put(world, starting(name=name, created=begin), begin)
    put(world, starting(name=name, created=begin, scheduled=begin + 2), begin + 2)
    put(world, starting(name=name, created=begin, scheduled=begin + 2, started=begin + 50), begin + 50)
    rolled_out(world, 1)
    done = ready_after(begin + ready, name=name, created=begin, scheduled=begin + 2, started=begin + 50)
    put(world, done, begin + ready)


def restarted(world: World) -> None:
    """Another process of the operator: it knows what the cluster holds."""
    world.reconciler = LLMServiceReconciler(
        cluster=world.cluster,
        cache=world.cache,
        observer=Observer(cluster=world.cluster, cache=world.cache, child_kinds=CHILD_KINDS),
        plan=CataloguePlanner(world.reconciler.plan.catalogue),  # type: ignore[attr-defined]
        now=lambda: world.time,
    )


def template_of(world: World) -> Any:
    return world.get("Deployment")["spec"]["template"]


def budget_of(world: World) -> int:
    """Seconds that a start may take before it is told, by the deadline of the rollout: a drain and a node on top."""
    deployment = world.get("Deployment")["spec"]
    grace = deployment["template"]["spec"]["terminationGracePeriodSeconds"]
    return int(deployment["progressDeadlineSeconds"] - grace - 900)


def test_a_start_is_told_from_the_pod_to_ready() -> None:
    world = a_world()
    through_a_start(world)
    last = startup(world)["last"]
    assert {key: last[key] for key in last if key.endswith("Seconds")} == {
        "scheduledSeconds": 2,
        "imageSeconds": 48,
        "loadSeconds": 63,
        "totalSeconds": 113,
    }
    assert [reason for reason, _ in events(world)] == ["Starting", "Loading", "Started", "Ready"]
    assert "load 1m03s" in dict(events(world))["Started"]
    assert world.condition()["status"] == "True"


def test_what_the_engine_says_is_told_of_a_service_on_the_cpu_too_and_its_log_is_read_once() -> None:
    world = a_world(spec__model__uri="hf://tiny/open")
    world.cluster.logs = {(Ref("Pod", NAMESPACE, "chat-1"), "engine", False): HUB_LOG}
    asked: list[Ref] = []
    world.cluster.before = lambda verb, ref: asked.append(ref) if verb == "log_head" else None
    through_a_start(world)
    world.reconcile()
    assert startup(world)["last"]["downloadSeconds"] == 3
    assert asked == [Ref("Pod", NAMESPACE, "chat-1")]


def test_a_pass_over_the_same_state_writes_nothing() -> None:
    world = a_world()
    for pod in (starting(), starting(scheduled=2), starting(scheduled=2, started=50)):
        put(world, pod, 60)
        assert put(world, pod, 61) == []
    through_a_start(world)
    world.writes()
    world.reconcile()
    assert world.writes() == []


def test_a_restarted_operator_goes_on_with_the_start_that_it_finds() -> None:
    world = a_world()
    put(world, starting(), 0)
    restarted(world)
    put(world, starting(scheduled=2, started=50), 50)
    restarted(world)
    rolled_out(world, 1)
    put(world, ready_after(113, scheduled=2, started=50), 200)
    assert startup(world)["last"]["totalSeconds"] == 113
    assert [reason for reason, _ in events(world)] == ["Starting", "Loading", "Started", "Ready"]
    restarted(world)
    world.writes()
    world.reconcile()
    assert world.writes() == []


def test_while_slower_and_slower_starts_are_learned_no_pod_and_no_deployment_is_touched() -> None:
    world = a_world(spec__replicas=3)
    template, generation = template_of(world), world.get("Deployment")["metadata"]["generation"]
    written: list[str] = []
    world.cluster.before = lambda verb, ref: written.append(f"{verb} {ref.kind}") if ref.kind != "Event" else None
    for number, ready in enumerate((113, 900, 3000), start=1):
        through_a_start(world, f"chat-{number}", begin=number * 10_000, ready=ready)
        restarted(world)
        world.reconcile()
    assert startup(world)["slowestSeconds"] == 2950
    assert {call for call in written if call.startswith(("apply", "delete", "overwrite"))} == {
        "apply_status LLMService"
    }
    assert (template_of(world), world.get("Deployment")["metadata"]["generation"]) == (template, generation)
    assert world.condition("UpdateAvailable") == {}


@pytest.mark.parametrize("edit", ["generation", "update"])
def test_the_next_edit_has_three_times_the_slowest_start(edit: str) -> None:
    world = a_world()
    assert budget_of(world) == 3600
    through_a_start(world, ready=3000)
    assert budget_of(world) == 3600
    if edit == "generation":
        world.apply(spec__maxNumSeqs=7)
    else:
        change = {"annotations": {"llmservice.dev/update": "now"}}
        world.cluster.edit(Ref("LLMService", NAMESPACE, "chat"), lambda live: live["metadata"].update(change))
    world.reconcile()
    assert budget_of(world) == 3 * 2950
    before = world.get("Deployment")["spec"]
    through_a_start(world, "chat-9", begin=90_000, ready=4000)
    assert startup(world)["slowestSeconds"] == 3950
    assert world.get("Deployment")["spec"] == before


@pytest.mark.parametrize("edit", [{"spec__replicas": 2}, {"spec__suspend": True}, {"spec__startup": {}}])
def test_an_edit_that_changes_no_pod_takes_what_was_learned_and_touches_none(edit: dict[str, Any]) -> None:
    world = a_world(spec__replicas=1)
    through_a_start(world, ready=3000)
    template = template_of(world)
    world.apply(**{"spec__replicas": 1, **edit})
    world.reconcile()
    restarted(world)
    world.reconcile()
    assert template_of(world) == template
    assert budget_of(world) == 3 * 2950


def test_a_template_that_somebody_changed_is_repaired_to_what_it_was_and_no_further() -> None:
    world = a_world()
    through_a_start(world, ready=3000)
    template = template_of(world)

    def meddle(live: Manifest) -> None:
        live["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1

    world.cluster.edit(Ref("Deployment", NAMESPACE, "chat"), meddle, manager="kubectl-edit")
    world.reconcile()
    assert template_of(world) == template


def test_what_the_user_set_stays_and_another_model_begins_anew() -> None:
    world = a_world()
    through_a_start(world, ready=3000)
    world.apply(spec__startup={"timeoutSeconds": 77})
    world.reconcile()
    assert budget_of(world) == 77
    world.apply(spec__model__uri="pvc://models/other.gguf")
    world.reconcile()
    assert budget_of(world) == 3600


def test_who_waits_is_told_how_long_the_last_start_took_and_when_the_budget_ends() -> None:
    world = a_world()
    through_a_start(world)
    world.apply(spec__maxNumSeqs=7)
    world.reconcile()
    world.cluster.remove(Ref("Pod", NAMESPACE, "chat-1"))
    pod = starting(name="chat-2", created=1000, scheduled=1000, started=1000)
    rolled_out(world, 0)
    put(world, pod, 1001)
    again = world.reconcile()
    ready = world.condition()
    assert (ready["reason"], "1m53s" in ready["message"]) == ("Loading", True)
    assert again == pytest.approx(0.8 * 3600 - 1)
    assert put(world, pod, 1000 + 2879) == []
    assert put(world, pod, 1000 + 2881) == ["apply_status LLMService chat"]
    assert "spec.startup.timeoutSeconds" in world.condition()["message"]
    assert put(world, pod, 1000 + 3500) == []


def test_a_start_that_outlasts_its_budget_is_told_and_goes_on() -> None:
    world = a_world()
    template = template_of(world)
    pod = starting(scheduled=0, started=0)
    put(world, pod, 3000)
    assert world.reconcile() == pytest.approx(600)
    assert put(world, pod, 3600)[0] == "apply_status LLMService chat"
    ready = world.condition()
    assert (ready["reason"], "chat-1" in ready["message"]) == ("StartupTimedOut", True)
    assert [reason for reason, _ in events(world)].count("StartupTimedOut") == 1
    assert put(world, pod, 9000) == []
    rolled_out(world, 1)
    put(world, ready_after(9100, scheduled=0, started=0), 9100)
    assert (world.condition()["status"], world.condition("Stalled")) == ("True", {})
    assert startup(world)["slowestSeconds"] == 9100
    assert template_of(world) == template


def test_raising_the_budget_of_a_start_that_is_late_goes_on_with_it() -> None:
    world = a_world()
    template, pod = template_of(world), starting(scheduled=0, started=0)
    put(world, pod, 3700)
    assert world.condition()["reason"] == "StartupTimedOut"
    world.apply(spec__startup={"timeoutSeconds": 7200})
    world.reconcile()
    rolled_out(world, 0)
    world.reconcile()
    assert world.condition()["reason"] == "Loading"
    assert (template_of(world), budget_of(world)) == (template, 7200)


def test_every_start_is_counted_once_by_engine_and_phase() -> None:
    world, counted = a_world(), list[tuple[str, dict[str, int]]]()
    world.reconciler.status.started = lambda engine, phases: counted.append((engine, dict(phases)))
    through_a_start(world)
    world.reconcile()
    assert counted == [("llamacpp", {"scheduled": 2, "image": 48, "load": 63, "total": 113})]


def test_the_autoscaler_of_a_restarted_operator_knows_how_long_a_start_takes() -> None:
    world = ScaledWorld()
    world.apply(spec__autoscaling={"maxReplicas": 4, **RUNNING})
    world.reconcile()
    world.start_pod()
    known = {"last": {"pod": "a", "revision": "b", "totalSeconds": 411}, "model": "pvc://models/tiny.gguf"}
    ref = Ref("LLMService", NAMESPACE, "chat")
    world.cluster.edit(ref, lambda live: live["status"].update(startup=known), subresource="status")
    world.round()
    assert world.state.memory.demand.cold_starts == (411,)
