"""State in, one event, state out: the reconciler on a cluster in a dict."""

from typing import Any

import pytest

from llmservice.errors import Conflict, Refused, Terminating, Unavailable
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.llmservice import STATUS_AFTER_SECONDS
from tests.scenarios.world import NAMESPACE, World, a_ready_pod


def test_a_new_resource_gets_its_children_and_a_status() -> None:
    world = World()
    world.apply()
    world.reconcile()
    assert world.writes() == ["apply_new Service chat", "apply_new Deployment chat", "apply_status LLMService chat"]
    assert world.get("Deployment")["spec"]["replicas"] == 1
    assert world.condition("Reconciling")["status"] == "True"


def test_of_many_new_resources_all_get_their_children_before_any_gets_a_status() -> None:
    world = World()
    world.apply()
    assert world.pass_once() == STATUS_AFTER_SECONDS
    assert world.writes() == ["apply_new Service chat", "apply_new Deployment chat"]
    assert world.pass_once() is None
    assert world.writes() == ["apply_status LLMService chat"]


def test_a_second_pass_over_the_same_state_writes_nothing() -> None:
    world = World().serving(spec__replicas=2)
    world.reconcile()
    assert world.writes() == []


def test_an_operator_that_starts_anew_writes_nothing() -> None:
    world = World().serving(spec__replicas=2)
    again = World(cache=world.cache, time=world.time)
    again.cluster = world.cluster
    again.reconciler.observer.cluster = again.reconciler.children.cluster = world.cluster
    again.reconciler.status.cluster = world.cluster
    again.reconcile()
    assert world.writes() == []


def test_ready_is_one_event() -> None:
    world = World()
    world.apply()
    world.reconcile()
    world.roll_out()
    world.writes()
    world.reconcile()
    assert [write.split()[0] for write in world.writes()] == ["apply_status", "record"]
    assert world.condition()["reason"] == "Ready"


def test_a_pod_that_only_carries_the_label_is_no_replica() -> None:
    world = World()
    world.apply()
    world.reconcile()
    world.roll_out()
    world.cluster.remove(Ref("Pod", NAMESPACE, "chat-0"))
    world.cluster.create(a_ready_pod("stranger", "chat", None))
    world.reconcile()
    assert world.condition("Available")["status"] == "False"
    assert world.get("LLMService")["status"]["readyReplicas"] == 0


def test_a_pod_that_only_carries_the_label_is_no_replica_of_a_stalled_resource() -> None:
    world = World().serving()
    world.cluster.create(a_ready_pod("stranger", "chat", None))
    world.apply(spec__engineOptions__args=["--model", "other"])
    world.reconcile()
    assert world.condition("Stalled")["status"] == "True"
    assert world.get("LLMService")["status"]["readyReplicas"] == 1


@pytest.mark.parametrize("kind", ["Deployment", "Service", "PodDisruptionBudget"])
def test_a_deleted_child_comes_back(kind: str) -> None:
    world = World().serving(spec__replicas=2)
    world.cluster.remove(Ref(kind, NAMESPACE, "chat"))
    world.reconcile()
    assert world.exists(kind)


def test_a_budget_is_no_longer_wanted_when_only_one_replica_is_left() -> None:
    world = World().serving(spec__replicas=2)
    world.apply(spec__replicas=1)
    world.reconcile()
    assert "delete PodDisruptionBudget chat" in world.writes()


def test_foreign_edits_of_our_fields_are_taken_back_and_others_stay() -> None:
    world = World().serving()

    def tamper(live: Manifest) -> None:
        live["spec"]["ports"][0]["port"] = 9999
        live["metadata"].setdefault("annotations", {})["team"] = "search"

    world.cluster.edit(Ref("Service", NAMESPACE, "chat"), tamper)
    world.reconcile()
    service = world.get("Service")
    assert service["spec"]["ports"][0]["port"] == 80
    assert service["metadata"]["annotations"]["team"] == "search"


def test_a_field_the_spec_no_longer_asks_for_disappears() -> None:
    world = World().serving(spec__pod__nodeSelector={"zone": "a"})
    world.apply()
    world.reconcile()
    assert "nodeSelector" not in world.get("Deployment")["spec"]["template"]["spec"]


@pytest.mark.parametrize("kind", ["Deployment", "Service"])
def test_a_foreign_object_of_the_name_is_never_changed(kind: str) -> None:
    world = World()
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "x", "image": "x"}]}}
    spec = {"replicas": 7, "selector": {"matchLabels": {"app": "x"}}, "template": template}
    if kind == "Service":
        spec = {"ports": [{"port": 1}]}
    foreign = {"kind": kind, "metadata": {"name": "chat", "namespace": NAMESPACE}, "spec": spec}
    api_version = "apps/v1" if kind == "Deployment" else "v1"
    world.cluster.create({"apiVersion": api_version, **foreign})
    before = world.get(kind)
    world.apply()
    again = world.reconcile()
    assert world.get(kind) == before
    made = {write.split()[1] for write in world.writes() if "LLMService" not in write}
    assert made == {"Event", kind} | ({"Service"} if kind == "Deployment" else set())
    assert (world.condition()["reason"], world.condition("Stalled")["status"]) == ("NameConflict", "True")
    assert again is not None


def test_a_successor_of_the_same_name_is_not_written_for_the_old_resource() -> None:
    """The cache still has the old resource; the live one has another UID."""
    world = World()
    old = world.apply()
    world.cluster.remove(Ref("LLMService", NAMESPACE, "chat"))
    world.apply()
    stale = {**old, "metadata": {**old["metadata"], "resourceVersion": "999999"}}
    world.cache.put(stale)
    world.reconcile()
    assert world.writes() == []


def test_a_successor_that_is_heard_of_while_its_predecessor_is_found_gone_gets_its_children() -> None:
    """Its watch event comes while the pass for the old one asks the API server: no other event will follow."""
    world = World()
    world.apply()

    def before(verb: str, ref: Ref) -> None:
        if (verb, ref.kind) == ("get", "LLMService"):
            world.cluster.before = lambda *_: None
            world.cluster.remove(ref)
            world.apply()

    world.cluster.before = before
    world.pass_once()
    assert world.writes() == []
    world.pass_once()
    assert world.writes() == ["apply_new Service chat", "apply_new Deployment chat"]


def test_a_resource_that_is_being_deleted_gets_nothing() -> None:
    world = World()
    world.apply()
    ref = Ref("LLMService", NAMESPACE, "chat")
    world.cluster.edit(ref, lambda live: live["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z"))
    world.reconcile()
    assert world.writes() == []


@pytest.mark.parametrize(
    ("changes", "reason", "words"),
    [
        ({"spec__engine": "vlm"}, "UnknownEngine", "spec.engine"),
        ({"spec__engineOptions": {"args": ["--port", "1"]}}, "OwnedArgument", "spec.engineOptions.args[0]"),
        ({"spec__gpu": {"type": "H1000"}}, "UnknownAccelerator", "spec.gpu.type"),
        ({"spec__gpu": {"count": 1}}, "InvalidSpec", "spec.gpu"),
    ],
)
def test_an_invalid_resource_is_stalled_until_it_is_edited(changes: dict[str, Any], reason: str, words: str) -> None:
    world = World()
    world.apply(**changes)
    world.reconcile()
    assert (world.condition()["reason"], world.condition("Stalled")["status"]) == (reason, "True")
    assert words in world.condition()["message"]
    assert not world.exists("Deployment")
    world.apply()
    world.reconcile()
    assert world.condition("Stalled") == {}
    assert world.exists("Deployment")


def test_a_wrong_edit_leaves_what_serves_alone() -> None:
    world = World().serving()
    before = world.get("Deployment")
    world.apply(spec__engine="vlm")
    world.reconcile()
    assert world.get("Deployment") == before
    assert world.condition("Available")["status"] == "True"


def test_a_rejected_write_is_reported_with_the_api_servers_message() -> None:
    world = World()
    world.apply()
    world.fail("apply_new", "Deployment", Refused("Forbidden", "exceeded quota: gpus"))
    again = world.reconcile()
    assert world.condition()["reason"] == "RefusedByCluster"
    assert "exceeded quota: gpus" in world.condition()["message"]
    assert again is not None


def test_in_a_namespace_that_is_going_nothing_is_made_and_nothing_is_said() -> None:
    world = World().serving()
    world.cluster.remove(Ref("Service", NAMESPACE, "chat"))

    def refuse(verb: str, ref: Ref) -> None:
        if verb == "record" or (verb, ref.kind) == ("apply_new", "Service"):
            raise Terminating("NamespaceTerminating", "because it is being terminated")

    world.cluster.before = refuse
    assert world.reconcile() is None
    assert world.writes() == []


@pytest.mark.parametrize(
    ("error", "times"), [(Unavailable("Timeout", "no answer"), 1), (Conflict("Conflict", "a quota was changed"), 2)]
)
def test_a_write_that_fails_is_made_good_by_the_next_pass(error: Exception, times: int) -> None:
    """After a conflict the pass itself looks once more."""
    world = World()
    world.apply()
    failing = iter([True] * times)

    def fail_once(verb: str, ref: Ref) -> None:
        if (verb, ref.kind) == ("apply_new", "Service") and next(failing, False):
            raise error

    world.cluster.before = fail_once
    with pytest.raises(type(error)):
        world.reconcile()
    world.reconcile()
    assert world.exists("Service")


def test_the_facts_of_a_generation_stay_when_the_catalogue_changes() -> None:
    world = World().serving()
    before = world.get("Deployment")["spec"]["template"]

    def older_row(live: Manifest) -> None:
        facts = live["status"]["plan"]["facts"]
        live["status"]["plan"]["facts"] = facts.replace(":server-", ":older-")

    world.cluster.edit(Ref("LLMService", NAMESPACE, "chat"), older_row, subresource="status")
    world.reconcile()
    kept = world.get("Deployment")["spec"]["template"]["spec"]["containers"][0]["image"]
    assert ":older-" in kept
    assert ":server-" in before["spec"]["containers"][0]["image"]
