"""Other clients write what the operator writes: back-off, who is named, and what is repaired or reported."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from llmservice.controllers.triggers import enqueue_owner
from llmservice.errors import Unavailable
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.work_queue import WorkQueue
from llmservice.reconcilers.workers import ServiceKey
from tests.in_memory_cluster.cluster import InMemoryCluster
from tests.scenarios.test_network_policy import CLOSED
from tests.scenarios.world import NAMESPACE, World

SERVICE = Ref("Service", NAMESPACE, "chat")
DEPLOYMENT = Ref("Deployment", NAMESPACE, "chat")
RESOURCE = Ref("LLMService", NAMESPACE, "chat")


def set_image(live: Manifest) -> None:
    live["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.test/theirs:1"


def take_from_service(live: Manifest) -> None:
    live["spec"]["selector"]["canary"] = "yes"


def fought(world: World, ref: Ref, change: Callable[[Manifest], None], *, minutes: float, **hands: Any) -> int:
    """Somebody changes a child every second; how often the operator wrote it."""
    writes = 0
    for _ in range(int(minutes * 60)):
        if world.exists(ref.kind):
            world.cluster.edit(ref, change, **hands)
        world.pass_once()
        writes += sum(f"{ref.kind} chat" in write for write in world.writes())
        world.time += timedelta(seconds=1)
    return writes


def test_a_writer_that_changes_a_child_after_every_write_meets_the_back_off_and_is_named() -> None:
    world = World().serving()
    assert fought(world, DEPLOYMENT, set_image, minutes=1, manager="rollouts-controller") <= 4
    condition = world.condition("ChildrenModified")
    assert (condition["status"], condition["reason"]) == ("True", "Contested")
    assert (
        "Deployment chat: rollouts-controller sets spec.template.spec.containers[engine].image"
        in (condition["message"])
    )
    assert fought(world, DEPLOYMENT, set_image, minutes=10, manager="rollouts-controller") <= 4


def test_a_contest_shows_where_everybody_looks_and_ready_does_not_flap() -> None:
    world = World().serving()
    seen = set()
    for _ in range(4):
        fought(world, SERVICE, take_from_service, minutes=0.5)
        seen.add((world.condition()["status"], world.condition()["reason"]))
    assert seen == {("True", "Contested")}


def test_a_contest_without_new_edits_ends() -> None:
    world = World().serving()
    fought(world, SERVICE, take_from_service, minutes=0.5)
    world.time += timedelta(seconds=30)
    again = world.pass_once()
    assert again is not None
    assert "canary" not in world.get("Service")["spec"]["selector"]
    world.time += timedelta(seconds=again)
    assert world.pass_once() is None
    assert world.condition("ChildrenModified") == {}
    assert world.condition()["reason"] == "Ready"


def test_another_operator_of_the_same_name_meets_the_back_off() -> None:
    def render_otherwise(live: Manifest) -> None:
        live["metadata"]["annotations"]["llmservice.dev/intent"] = "another"
        set_image(live)

    world = World().serving()
    assert fought(world, DEPLOYMENT, render_otherwise, minutes=1, manager="llmservice-operator") <= 4
    condition = world.condition("ChildrenModified")
    assert condition["reason"] == "Contested"
    assert "metadata.annotations.llmservice.dev/intent" in condition["message"]


@dataclass
class Mutating:
    """A cluster whose admission webhook gives each Deployment another image at every write."""

    cluster: InMemoryCluster
    writes: int = 0

    async def get(self, ref: Ref) -> Manifest | None:
        return await self.cluster.get(ref)

    async def apply(self, manifest: Manifest, *, manager: str) -> Manifest:
        await self.cluster.apply(manifest, manager=manager)
        self.writes += 1

        def mutate(live: Manifest) -> None:
            live["spec"]["template"]["spec"]["containers"][0]["image"] = f"registry.test/mirrored:{self.writes}"

        return self.cluster.edit(DEPLOYMENT, mutate, manager=manager)


def test_a_webhook_that_changes_every_write_meets_the_back_off_and_is_named() -> None:
    world = World().serving()
    webhook = Mutating(world.cluster)
    world.cluster.edit(DEPLOYMENT, set_image)
    world.reconciler.children.cluster = webhook  # type: ignore[assignment]  # a repair needs no more
    for _ in range(60):
        world.pass_once()
        world.time += timedelta(seconds=1)
    assert webhook.writes <= 4
    condition = world.condition("ChildrenModified")
    assert condition["reason"] == "Contested"
    assert "webhook changes spec.template.spec.containers[engine].image" in condition["message"]


def test_a_child_that_is_deleted_each_time_it_is_created_meets_the_back_off() -> None:
    world, made = World().serving(), 0
    for _ in range(60):
        if world.exists("Deployment"):
            world.cluster.remove(DEPLOYMENT)
        world.pass_once()
        made += world.writes().count("apply_new Deployment chat")
        world.time += timedelta(seconds=1)
    assert made <= 4
    condition = world.condition("ChildrenModified")
    assert (condition["reason"], condition["message"].partition(":")[0]) == ("Contested", "Deployment chat")


def test_an_edit_of_the_resource_is_written_at_once_in_the_midst_of_a_contest() -> None:
    world = World().serving()
    fought(world, DEPLOYMENT, set_image, minutes=0.5)
    world.apply(spec__maxNumSeqs=3)
    world.pass_once()
    assert "apply Deployment chat" in world.writes()


def test_a_person_who_edits_now_and_then_is_repaired_at_once() -> None:
    world = World().serving()
    for _ in range(6):
        world.cluster.edit(SERVICE, take_from_service)
        world.pass_once()
        assert world.writes().count("apply Service chat") == 1
        world.time += timedelta(seconds=61)
    assert world.condition("ChildrenModified") == {}


def test_of_a_resource_that_is_gone_no_contest_is_remembered() -> None:
    world = World().serving()
    fought(world, SERVICE, take_from_service, minutes=0.5)
    world.cluster.remove(RESOURCE)
    assert world.reconciler.children._repairs == {}
    assert world.reconciler.status._written == {}


def extra_key(selector: dict[str, str]) -> None:
    selector["canary"] = "yes"


BREAKS_SERVING: list[tuple[str, Callable[[Manifest], None]]] = [
    ("Service", lambda live: extra_key(live["spec"]["selector"])),
    ("Service", lambda live: live["spec"].update(type="NodePort")),
    ("Service", lambda live: live["spec"].update(publishNotReadyAddresses=True)),
    ("Deployment", lambda live: live["spec"].update(paused=True)),
    ("PodDisruptionBudget", lambda live: extra_key(live["spec"]["selector"]["matchLabels"])),
    ("NetworkPolicy", lambda live: extra_key(live["spec"]["podSelector"]["matchLabels"])),
]


@pytest.mark.parametrize(("kind", "change"), BREAKS_SERVING)
def test_an_addition_that_breaks_serving_is_taken_back(kind: str, change: Callable[[Manifest], None]) -> None:
    world = World().serving(spec__replicas=2, spec__networkPolicy=CLOSED)
    before = world.get(kind)["spec"]
    template = world.get("Deployment")["spec"]["template"]
    world.cluster.edit(Ref(kind, NAMESPACE, "chat"), change)
    world.reconcile()
    assert world.get(kind)["spec"] == before
    assert world.get("Deployment")["spec"]["template"] == template
    world.writes()
    world.reconcile()
    assert world.writes() == []


def add_sidecar(live: Manifest) -> None:
    pod = live["spec"]["template"]["spec"]
    pod["containers"].append({"name": "proxy", "image": "proxy:1"})
    pod["initContainers"] = [{"name": "warm", "image": "warm:1"}]
    pod["containers"][0]["env"] = [*pod["containers"][0].get("env", ()), {"name": "DEBUG", "value": "1"}]


def test_foreign_additions_are_left_in_place_and_reported() -> None:
    world = World().serving()
    world.cluster.edit(DEPLOYMENT, add_sidecar)
    world.cluster.edit(SERVICE, lambda live: live["spec"]["ports"].append({"name": "x", "port": 9}))
    world.reconcile()
    assert [write for write in world.writes() if "LLMService" not in write] == []
    condition = world.condition("ChildrenModified")
    assert condition["reason"] == "ForeignAddition"
    for text in ("container proxy", "init container warm", "variable DEBUG", "port 9 in Service chat"):
        assert text in condition["message"]
    assert world.condition()["reason"] != "Contested"


def forge(live: Manifest) -> None:
    live["status"]["readyReplicas"] = 99
    live["status"]["conditions"] = []


def listening(world: World) -> WorkQueue[ServiceKey]:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    foreign = world.reconciler.status.is_foreign
    world.cache.listen(lambda before, after: enqueue_owner(queue, before, after, is_foreign=foreign))
    return queue


def test_a_foreign_write_of_the_status_is_queued_and_corrected() -> None:
    world = World().serving()
    before = world.get("LLMService")["status"]

    async def write_status() -> None:
        queue = listening(world)
        world.cluster.edit(RESOURCE, forge, manager="somebody", subresource="status")
        async with asyncio.timeout(1):
            assert await queue.take() == (NAMESPACE, "chat")

    asyncio.run(write_status())
    world.reconcile()
    after = world.get("LLMService")["status"]
    assert after["readyReplicas"] == before["readyReplicas"] == 1
    assert {item["type"] for item in after["conditions"]} == {item["type"] for item in before["conditions"]}


def test_our_own_status_queues_nothing() -> None:
    world = World().serving()
    world.cluster.remove(Ref("Pod", NAMESPACE, "chat-0"))

    async def tell() -> int:
        queue = listening(world)
        await world.reconciler((NAMESPACE, "chat"))
        await asyncio.sleep(0.1)
        return len(queue)

    assert asyncio.run(tell()) == 0
    assert "apply_status LLMService chat" in world.writes()


def test_corrections_of_a_contested_status_back_off() -> None:
    world = World().serving()
    written = 0
    for _ in range(60):
        world.cluster.edit(RESOURCE, forge, manager="somebody", subresource="status")
        world.pass_once()
        written += world.writes().count("apply_status LLMService chat")
        world.time += timedelta(seconds=1)
    assert written <= 4
    again = world.pass_once()
    assert again is not None
    world.time += timedelta(seconds=again)
    world.pass_once()
    assert world.get("LLMService")["status"]["readyReplicas"] == 1


def test_corrections_of_a_contested_stalled_status_back_off_and_win_in_the_end() -> None:
    world = World()
    world.apply(spec__engine="vlm")
    for _ in range(10):
        world.reconcile()
        world.cluster.edit(RESOURCE, lambda live: live["status"].update(conditions=[]), subresource="status")
    again = world.pass_once()
    assert again is not None
    world.time += timedelta(seconds=again)
    world.pass_once()
    assert world.condition("Stalled")["reason"] == "UnknownEngine"


def test_a_condition_that_others_keep_in_the_status_costs_no_write() -> None:
    world = World().serving()
    theirs = {"type": "Approved", "status": "True", "reason": "x", "message": "x", "lastTransitionTime": "now"}
    world.cluster.edit(RESOURCE, lambda live: live["status"]["conditions"].append(theirs), subresource="status")
    for _ in range(3):
        world.reconcile()
    assert world.writes() == []
    assert world.condition("Approved")["status"] == "True"


@pytest.mark.parametrize("told", [False, True])
def test_a_status_that_could_not_be_written_for_a_while_is_written_as_soon_as_it_can_be(*, told: bool) -> None:
    world = World().serving() if told else World()
    if told:
        world.cluster.remove(Ref("Pod", NAMESPACE, "chat-0"))
    else:
        world.apply()
        world.pass_once()
    world.fail("apply_status", "LLMService", Unavailable("Unreachable", "no answer"))
    for _ in range(6):
        with pytest.raises(Unavailable):
            world.pass_once()
        world.time += timedelta(seconds=1)
    world.cluster.before = lambda *_: None
    world.pass_once()
    assert world.writes()[-1] == "apply_status LLMService chat"
    assert world.reconciler.status._corrections == {}


def test_a_status_whose_write_was_interrupted_is_not_foreign() -> None:
    world = World()
    world.apply()
    world.pass_once()
    world.fail("apply_status", "LLMService", asyncio.CancelledError())
    with pytest.raises(asyncio.CancelledError):
        world.pass_once()
    assert not world.reconciler.status.is_foreign(world.get("LLMService"))


def test_who_deletes_what_is_created_from_the_first_moment_on_meets_the_back_off() -> None:
    world, written = World(), 0
    world.apply()
    for _ in range(60):
        world.pass_once()
        written += world.writes().count("apply_new Deployment chat")
        if world.exists("Deployment"):
            world.cluster.remove(DEPLOYMENT)
        world.time += timedelta(seconds=1)
    assert written <= 6
    condition = world.condition("ChildrenModified")
    assert (condition["reason"], condition["message"].partition(":")[0]) == ("Contested", "Deployment chat")


def test_a_foreign_port_in_a_rule_of_the_network_policy_is_removed() -> None:
    world = World().serving(spec__networkPolicy={"ingressFrom": [{"podSelector": {}}]})
    policy = Ref("NetworkPolicy", NAMESPACE, "chat")

    def open_ssh(live: Manifest) -> None:
        live["spec"]["ingress"][0]["ports"].append({"port": 22, "protocol": "TCP"})

    world.cluster.edit(policy, open_ssh)
    world.reconcile()
    ports = [port["port"] for rule in world.get("NetworkPolicy")["spec"]["ingress"] for port in rule["ports"]]
    assert 22 not in ports


def test_the_same_port_of_another_protocol_is_an_addition_and_no_fight() -> None:
    world = World().serving()
    udp = {"name": "quic", "port": 80, "protocol": "UDP", "targetPort": 443}
    world.cluster.edit(SERVICE, lambda live: live["spec"]["ports"].append(udp))
    for _ in range(5):
        world.reconcile()
    assert "apply Service chat" not in world.writes()
    condition = world.condition("ChildrenModified")
    assert condition["reason"] == "ForeignAddition"
    assert "80/UDP in Service chat" in condition["message"]
