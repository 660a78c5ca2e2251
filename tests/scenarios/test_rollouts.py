"""Rollouts by free devices: chosen once, told before, pinned until the next change, and never waiting for nothing."""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from llmservice.converging.free_devices import DeviceNode, DevicePod, device_node, device_pod
from llmservice.converging.patience import PATIENCE_SECONDS
from llmservice.converging.rollout_step import RolloutStep
from llmservice.errors import Conflict, Refused
from llmservice.objects.names import AUTOSCALER
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.free_devices import FreeDevices
from tests.in_memory_cluster.cluster import InMemoryCluster
from tests.scenarios.world import NAMESPACE, World, a_ready_pod
from tests.unit.converging.devices import a_holder, a_node, asking
from tests.unit.converging.plans import unscheduled

ON_L4: dict[str, Any] = {"spec__gpu": {"type": "L4", "count": 1, "verify": False}}
LABELS = {"cloud.google.com/gke-accelerator": "nvidia-l4"}
IN_PLACE, SURGE = {"maxSurge": 0, "maxUnavailable": 1}, {"maxSurge": 1, "maxUnavailable": 0}


@dataclass
class Census:
    """Nodes and pods of the in-memory cluster; `lists` counts how often somebody looked."""

    cluster: InMemoryCluster
    lists: int = 0

    async def nodes(self) -> list[DeviceNode]:
        self.lists += 1
        return [node for node in map(device_node, await self.cluster.list("Node")) if node]

    async def pods(self, node: str = "") -> list[DevicePod]:
        self.lists += 1
        found = [pod for pod in map(device_pod, await self.cluster.list("Pod")) if pod]
        return [pod for pod in found if node in {"", pod.node}]


class GpuWorld(World):
    """The world with a node of L4s; pods of services run on it."""

    def __init__(self, gpus: int, *, may_read: bool = True, made_before: bool = False, **spec: Any) -> None:
        super().__init__()
        self.census = Census(self.cluster)
        if may_read:
            self.reconciler.rollouts.free = FreeDevices(self.census, self.seconds)
        self.cluster.create(a_node("n1", gpus, labels=LABELS))
        self.apply(**ON_L4, **spec)
        with as_it_was_before() if made_before else contextlib.nullcontext():
            self.reconcile()
        self.roll_out()
        self.reconcile()
        self.writes()
        self.census.lists = 0

    def roll_out(self, name: str = "chat") -> None:
        super().roll_out(name)

        def place(pod: Manifest) -> None:
            pod["spec"] = {**asking(), "nodeName": "n1"}

        for pod in asyncio.run(self.cluster.list("Pod", NAMESPACE, label_selector=f"llmservice.dev/name={name}")):
            self.cluster.edit(Ref("Pod", NAMESPACE, pod["metadata"]["name"]), place)

    def edit(self, value: int = 3, name: str = "chat", **spec: Any) -> float | None:
        """An edit that gives the replicas another template."""
        before = self.get("LLMService", name)["spec"]
        changes = {f"spec__{key}": item for key, item in before.items()}
        self.time += timedelta(seconds=1)
        self.apply(name, **(changes | {"spec__maxNumSeqs": value} | spec))
        return self.reconcile(name)

    def strategy(self) -> Any:
        return self.get("Deployment")["spec"]["strategy"]["rollingUpdate"]

    def max_num_seqs(self) -> str:
        """What the template says of it."""
        arguments: list[str] = self.get("Deployment")["spec"]["template"]["spec"]["containers"][0]["args"]
        return arguments[arguments.index("--parallel") + 1]

    def rollout(self) -> dict[str, Any]:
        told: dict[str, Any] = self.get("LLMService")["status"].get("rollout", {})
        return told

    def events(self) -> list[tuple[str, str]]:
        found = asyncio.run(self.cluster.list("Event", NAMESPACE))
        return [(item["reason"], item["message"]) for item in found if item["reason"].startswith("Rollout")]

    def start_new_replica(self, **status: Any) -> None:
        """What a Deployment with a surge does: a pod of a new template beside the old one."""
        uid = self.get("Deployment")["metadata"]["uid"]
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat", "uid": uid, "controller": True}
        metadata = {"namespace": NAMESPACE, "name": "chat-new", "ownerReferences": [owner]}
        labels = {"labels": {"llmservice.dev/name": "chat"}}
        made = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata | labels, "spec": {}}
        pod = a_ready_pod("chat-new-1", "chat", self.cluster.create(made))
        self.time += timedelta(seconds=1)
        pending = unscheduled("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
        pending["conditions"][0]["lastTransitionTime"] = f"{self.time:%Y-%m-%dT%H:%M:%SZ}"
        self.cluster.create(pod | {"status": pending | status})

        def report(live: Manifest) -> None:
            counts = {"replicas": 2, "updatedReplicas": 1, "readyReplicas": 1}
            live["status"] = {"observedGeneration": live["metadata"]["generation"], **counts}

        self.cluster.edit(Ref("Deployment", NAMESPACE, "chat"), report, subresource="status")

    def take(self, count: int) -> None:
        """Somebody else takes devices."""
        for number in range(count):
            self.cluster.create(a_holder(f"holder-{number}"))

    def pass_time(self, seconds: float) -> float | None:
        self.time += timedelta(seconds=seconds)
        return self.reconcile()


@contextlib.contextmanager
def as_it_was_before() -> Iterator[None]:
    """An operator that replaces in place and keeps no record of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RolloutStep, "recorded", lambda step, *_: step.as_it_is())
        yield


@contextlib.contextmanager
def failing(world: World, verb: str, kind: str, error: Exception) -> Iterator[None]:
    """Calls fail for a while."""
    world.fail(verb, kind, error)
    yield
    world.cluster.before = lambda *_: None


def test_with_a_free_device_one_more_replica_comes_first() -> None:
    world = GpuWorld(2)
    world.edit()
    assert (world.strategy(), world.max_num_seqs()) == (SURGE, "3")
    assert world.rollout()["strategy"] == "Surge"
    assert world.events() == [("RolloutPlan", world.rollout()["message"])]
    assert "1 of 2 L4" in world.rollout()["message"]


def test_without_a_free_device_the_replica_is_replaced_in_place() -> None:
    world = GpuWorld(1)
    world.edit()
    assert (world.strategy(), world.max_num_seqs()) == (IN_PLACE, "3")
    assert world.rollout()["strategy"] == "Replace"
    assert world.events() == [("RolloutPlan", world.rollout()["message"])]


def test_the_strategy_is_in_the_same_write_as_the_template_and_told_before_it() -> None:
    world = GpuWorld(2)
    world.edit()
    writes = world.writes()
    assert [write for write in writes if "Deployment" in write] == ["apply Deployment chat"]
    assert writes.index("apply Deployment chat") > next(i for i, write in enumerate(writes) if "Event" in write)


@pytest.mark.parametrize("gpus", [1, 2])
def test_afterwards_nothing_is_read_or_written_whatever_is_free(gpus: int) -> None:
    world = GpuWorld(gpus)
    world.edit()
    chosen = world.strategy()
    world.roll_out()
    world.reconcile()
    assert world.rollout().keys() == {"served"}
    world.take(3)
    world.writes()
    world.census.lists = 0
    world.pass_time(3600)
    assert (world.writes(), world.census.lists, world.strategy()) == ([], 0, chosen)


def test_nothing_is_counted_at_creation_or_for_replicas_alone() -> None:
    world = GpuWorld(2)
    world.apply(**ON_L4, spec__replicas=2)
    world.reconcile()
    assert (world.census.lists, world.events(), world.strategy()) == (0, [], IN_PLACE)


def test_while_suspended_nothing_is_counted() -> None:
    world = GpuWorld(2)
    world.edit(spec__suspend=True)
    assert (world.census.lists, world.max_num_seqs()) == (0, "3")


def test_a_service_that_does_not_serve_is_replaced_without_counting() -> None:
    world = GpuWorld(2)
    unready = {"conditions": [{"type": "Ready", "status": "False"}]}
    world.cluster.edit(Ref("Pod", NAMESPACE, "chat-0"), lambda pod: pod["status"].update(unready))
    world.edit()
    assert (world.census.lists, world.strategy(), world.max_num_seqs()) == (0, IN_PLACE, "3")


def test_without_the_right_to_read_nodes_replicas_are_replaced_in_place_and_it_says_so() -> None:
    world = GpuWorld(2, may_read=False)
    world.edit()
    assert (world.strategy(), world.rollout()["strategy"]) == (IN_PLACE, "Replace")
    assert len(world.events()) == 1


def test_a_right_that_is_refused_is_the_same_as_none() -> None:
    world = GpuWorld(2)
    with failing(world, "list", "Node", Refused("Forbidden", "nodes is forbidden")):
        world.edit()
    assert (world.strategy(), world.max_num_seqs()) == (IN_PLACE, "3")


def test_two_services_do_not_both_take_the_one_free_device() -> None:
    world = GpuWorld(3)
    world.apply("other", **ON_L4)
    world.reconcile("other")
    world.roll_out("other")
    world.reconcile("other")
    world.edit()
    world.edit(name="other")
    shapes = [world.get("Deployment", name)["spec"]["strategy"]["rollingUpdate"] for name in ("chat", "other")]
    assert shapes == [SURGE, IN_PLACE]


def test_a_write_that_meets_a_conflict_is_tried_again_with_the_same_choice_and_one_event() -> None:
    world = GpuWorld(2)
    with failing(world, "apply", "Deployment", Conflict("Conflict", "changed meanwhile")), pytest.raises(Conflict):
        world.edit()
    looked = world.census.lists
    world.reconcile()
    assert (world.census.lists, world.strategy(), len(world.events())) == (looked, SURGE, 1)


def test_an_operator_that_is_killed_after_the_write_goes_on_with_the_choice() -> None:
    world = GpuWorld(2)
    with failing(world, "apply_status", "LLMService", Conflict("Conflict", "killed")), pytest.raises(Conflict):
        world.edit()
    world.take(1)
    world.reconciler.rollouts._decided.clear()
    world.reconcile()
    assert (world.strategy(), world.rollout()["strategy"]) == (SURGE, "Surge")


def test_a_change_of_the_strategy_alone_restarts_nothing() -> None:
    world = GpuWorld(2)
    before = world.get("Deployment")["spec"]["template"]
    for strategy, shape in (("Surge", SURGE), ("Replace", IN_PLACE), ("Auto", IN_PLACE)):
        world.apply(**ON_L4, spec__rollout={"strategy": strategy})
        world.reconcile()
        assert (world.strategy(), world.get("Deployment")["spec"]["template"]) == (shape, before)
    assert (world.events(), world.census.lists) == ([], 0)


def test_a_replica_that_finds_no_place_takes_the_place_of_the_old_one() -> None:
    world = GpuWorld(2)
    world.edit()
    template = world.get("Deployment")["spec"]["template"]
    world.take(1)
    world.start_new_replica()
    assert 0 < (world.pass_time(10) or 0) <= 10
    assert world.strategy() == SURGE
    world.pass_time(11)
    assert (world.strategy(), world.rollout()["strategy"]) == (IN_PLACE, "Replace")
    assert [reason for reason, _ in world.events()] == ["RolloutPlan", "RolloutPlan"]
    assert world.get("Deployment")["spec"]["template"] == template
    world.writes()
    world.pass_time(60)
    assert world.writes() == []


def test_while_a_node_is_added_for_it_the_replica_waits_but_not_for_ever() -> None:
    world = GpuWorld(2)
    world.edit()
    world.take(1)
    world.start_new_replica()
    pod = world.get("Pod", "chat-new-1")
    world.cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "scale-up", "namespace": NAMESPACE},
            "reason": "TriggeredScaleUp",
            "involvedObject": {"uid": pod["metadata"]["uid"]},
        }
    )
    world.pass_time(60)
    assert world.strategy() == SURGE
    world.pass_time(600)
    assert world.strategy() == IN_PLACE


def test_a_replica_that_would_get_no_place_in_place_either_takes_none() -> None:
    world = GpuWorld(2)
    world.edit()
    world.take(1)
    world.start_new_replica()
    world.cluster.edit(Ref("Node", "", "n1"), lambda node: node["spec"].update(unschedulable=True))
    world.pass_time(21)
    assert world.strategy() == SURGE


def test_without_downtime_a_change_waits_until_there_is_room() -> None:
    world = GpuWorld(1, spec__rollout={"allowDowntime": False})
    again = world.edit()
    assert 0 < (again or 0) <= 60
    assert world.max_num_seqs() != "3"
    assert (world.condition()["status"], world.condition("Reconciling")["reason"]) == ("True", "RolloutBlocked")
    assert "1 more nvidia.com/gpu (L4)" in world.condition("Reconciling")["message"]
    assert [reason for reason, _ in world.events()] == ["RolloutBlocked"]
    world.writes()
    for _ in range(5):
        world.pass_time(61)
    assert (world.writes(), len(world.events())) == ([], 1)
    world.cluster.edit(
        Ref("Node", "", "n1"), lambda node: node["status"]["allocatable"].update({"nvidia.com/gpu": "2"})
    )
    world.pass_time(61)
    assert (world.strategy(), world.max_num_seqs(), world.rollout()["strategy"]) == (SURGE, "3", "Surge")


def test_a_change_that_waits_for_hours_is_neither_given_up_nor_taken_for_what_serves() -> None:
    world = GpuWorld(1, spec__rollout={"allowDowntime": False})
    served = world.rollout()["served"]
    world.edit()
    for _ in range(3):
        world.pass_time(3600)
    assert (world.rollout()["served"], "failed" in world.rollout()) == (served, False)
    assert world.condition("Reconciling")["reason"] == "RolloutBlocked"


def test_between_looks_a_change_that_waits_reads_nothing() -> None:
    world = GpuWorld(1, spec__rollout={"allowDowntime": False})
    world.edit()
    looked = world.census.lists
    world.pass_time(10)
    assert world.census.lists == looked


@pytest.mark.parametrize("how", ["downtime is allowed", "nothing serves any more"])
def test_a_change_that_waits_goes_on_at_once_when(how: str) -> None:
    world = GpuWorld(1, spec__rollout={"allowDowntime": False})
    world.edit()
    if how == "downtime is allowed":
        world.edit(spec__rollout={"allowDowntime": True})
    else:
        world.cluster.remove(Ref("Pod", NAMESPACE, "chat-0"))
        world.reconcile()
    assert (world.strategy(), world.max_num_seqs()) == (IN_PLACE, "3")
    assert world.condition("Reconciling")["reason"] != "RolloutBlocked"


def test_several_replicas_are_replaced_in_place_even_without_downtime() -> None:
    world = GpuWorld(2, spec__rollout={"allowDowntime": False}, spec__replicas=2)
    world.edit()
    assert (world.strategy(), world.max_num_seqs(), world.rollout()["strategy"]) == (IN_PLACE, "3", "Replace")


def test_a_deployment_of_an_operator_without_the_choice_is_left_alone_until_its_next_change() -> None:
    world = GpuWorld(2, made_before=True)
    assert "llmservice.dev/rollout" not in world.get("Deployment")["metadata"]["annotations"]
    world.pass_time(60)
    assert (world.writes(), world.census.lists, world.strategy()) == ([], 0, IN_PLACE)
    world.edit()
    assert world.strategy() == SURGE


def test_an_edit_that_is_refused_keeps_the_strategy() -> None:
    world = GpuWorld(2)
    world.edit()
    world.roll_out()
    world.reconcile()
    world.apply(spec__engine="vllm", spec__gpu={"type": "none-such", "count": 1})
    world.writes()
    world.reconcile()
    assert world.strategy() == SURGE


def test_replicas_that_the_autoscaler_adds_leave_the_rollout_as_it_is() -> None:
    world = GpuWorld(2)
    world.edit()
    world.scale(3, AUTOSCALER)
    world.pass_time(1)
    world.writes()
    world.pass_time(1)
    assert (world.strategy(), world.get("Deployment")["spec"]["replicas"], world.writes()) == (SURGE, 3, [])


def test_a_new_replica_that_no_node_takes_for_long_moves_on_to_other_devices_while_the_old_one_serves() -> None:
    world = GpuWorld(2, spec__rollout={"allowDowntime": False})
    world.edit(spec__gpu={"type": "L4", "verify": False, "alternatives": [{"type": "A10G"}]})
    world.take(1)
    world.start_new_replica()
    world.pass_time(200)
    assert world.get("LLMService")["status"]["plan"]["accelerator"] == "L4"
    world.pass_time(PATIENCE_SECONDS)
    assert world.get("LLMService")["status"]["plan"]["accelerator"] == "A10G"


def test_an_explicit_replace_of_the_only_replica_waits_where_no_downtime_is_allowed() -> None:
    world = GpuWorld(2, spec__rollout={"strategy": "Replace", "allowDowntime": False})
    world.edit()
    assert (world.condition("Reconciling")["reason"], world.census.lists) == ("RolloutBlocked", 0)
    world.edit(spec__rollout={"strategy": "Auto", "allowDowntime": False})
    assert (world.strategy(), world.max_num_seqs()) == (SURGE, "3")


def test_twenty_services_of_an_operator_without_the_choice_keep_their_pods_and_are_not_rewritten() -> None:
    world, names = GpuWorld(2), [f"live-{number}" for number in range(20)]
    with as_it_was_before():
        for name in names:
            world.apply(name, **ON_L4)
            world.reconcile(name)
    before = {name: world.get("Deployment", name) for name in names}
    world.writes()
    for name in names:
        world.reconcile(name)
    assert {name: world.get("Deployment", name) for name in names} == before
    assert (world.writes(), world.census.lists) == ([], 0)


def test_a_quota_that_admits_no_replica_more_is_not_waited_for() -> None:
    world = GpuWorld(2)
    world.edit()

    def reject(live: Manifest) -> None:
        message = 'pods "chat-2" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1'
        since = f"{world.time:%Y-%m-%dT%H:%M:%SZ}"
        failure = {"type": "ReplicaFailure", "status": "True", "message": message, "lastTransitionTime": since}
        generation = live["metadata"]["generation"]
        live["status"] = {"observedGeneration": generation, "replicas": 1, "conditions": [failure]}

    world.cluster.edit(Ref("Deployment", NAMESPACE, "chat"), reject, subresource="status")
    world.pass_time(15)
    assert world.strategy() == SURGE
    world.pass_time(6)
    assert (world.strategy(), world.rollout()["strategy"]) == (IN_PLACE, "Replace")


def test_the_gap_is_announced_as_long_as_the_last_start_took() -> None:
    world = GpuWorld(1)

    def took(live: Manifest) -> None:
        live["status"]["startup"] = {"model": live["spec"]["model"]["uri"], "last": {"totalSeconds": 192}}

    world.cluster.edit(Ref("LLMService", NAMESPACE, "chat"), took)
    world.edit()
    assert "3m12s" in world.events()[0][1]
