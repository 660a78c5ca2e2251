"""Counting what is free for one more replica."""

from collections.abc import Iterable
from typing import Any

import pytest

from llmservice.converging.free_devices import Own, Room, candidates, count_room, device_node, device_pod
from llmservice.objects.references import Manifest
from tests.unit.converging.devices import GPU, a_holder, a_node, asking


def room(spec: dict[str, Any], nodes: Iterable[Manifest], pods: Iterable[Manifest] = (), **more: Any) -> Room:
    counted = [node for node in map(device_node, nodes) if node]
    return count_room(spec, candidates(spec, counted), [pod for pod in map(device_pod, pods) if pod], **more)


def test_what_pods_hold_is_not_free() -> None:
    found = room(asking(), [a_node("n1", 2), a_node("n2", 2)], [a_holder("a"), a_holder("b", "n2", 2)])
    assert (found.total, found.free, found.node, found.missing) == (4, 1, "n1", 0)


def test_devices_on_several_nodes_do_not_add_up() -> None:
    found = room(asking(2), [a_node("n1", 2), a_node("n2", 2)], [a_holder("a"), a_holder("b", "n2")])
    assert (found.free, found.node, found.missing) == (2, "", 1)


def test_the_fullest_node_with_room_is_taken() -> None:
    found = room(asking(1), [a_node("n1", 8), a_node("n2", 2)], [])
    assert found.node == "n2"


@pytest.mark.parametrize(
    "shut",
    [
        {"unschedulable": True},
        {"ready": False},
        {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]},
        {"labels": {"gpu": "T4"}},
        {"resource": "nvidia.com/mig-1g.10gb"},
        {"gpus": 0},
    ],
)
def test_a_node_that_the_pod_may_not_run_on_has_no_room(shut: dict[str, Any]) -> None:
    spec = {**asking(), "nodeSelector": {"gpu": "L4"}}
    found = room(spec, [a_node(**({"labels": {"gpu": "L4"}} | shut))])
    assert (found.total, found.free, found.node, found.missing) == (0, 0, "", 1)


@pytest.mark.parametrize(
    ("holder", "free"),
    [
        (a_holder("a", phase="Pending"), 0),
        (a_holder("a", deletionTimestamp="2026-01-01T00:00:00Z"), 0),
        (a_holder("a", phase="Succeeded"), 1),
        (a_holder("a", phase="Failed"), 1),
        (a_holder("a", node=""), 1),
    ],
)
def test_a_pod_holds_its_devices_from_binding_until_it_has_ended(holder: Manifest, free: int) -> None:
    assert room(asking(), [a_node()], [holder]).free == free


def test_slices_are_counted_by_themselves() -> None:
    node = a_node("n1", 2, resource="nvidia.com/mig-1g.10gb")
    found = room(asking(1, "nvidia.com/mig-1g.10gb"), [node], [a_holder("whole", gpus=2)])
    assert (found.total, found.free) == (2, 2)


def test_every_device_that_is_asked_for_must_be_free() -> None:
    spec = asking()
    spec["containers"][0]["resources"]["limits"]["rdma/ib"] = "1"
    assert room(spec, [a_node()]).missing == 2
    node = a_node()
    node["status"]["allocatable"]["rdma/ib"] = "1"
    assert room(spec, [node]).node == "n1"


def test_a_replica_that_goes_makes_room_on_its_node_alone() -> None:
    mine, theirs = a_holder("mine"), a_holder("theirs", "n2", 2)
    own = Own(uids=frozenset({"uid-mine"}))
    nodes = [a_node("n1", 1), a_node("n2", 2)]
    assert room(asking(1), nodes, [mine, theirs], own=own).released
    assert not room(asking(2), nodes, [mine, theirs], own=own).released
    assert not room(asking(1), nodes, [mine, theirs]).released


def test_a_replica_on_a_cordoned_node_makes_no_room() -> None:
    own = Own(uids=frozenset({"uid-mine"}))
    assert not room(asking(), [a_node(unschedulable=True)], [a_holder("mine")], own=own).released


def test_what_the_service_gives_up_first_is_free() -> None:
    own = Own(uids=frozenset({"uid-old", "uid-failing"}), leaving=frozenset({"uid-failing"}))
    found = room(asking(), [a_node("n1", 2)], [a_holder("old"), a_holder("failing")], own=own)
    assert (found.free, found.node) == (1, "n1")


def test_what_was_promised_to_others_is_not_free() -> None:
    assert room(asking(), [a_node("n1", 2)], promised=[("n1", {GPU: 1}), ("gone", {GPU: 4})]).free == 1


def test_a_node_that_lost_devices_makes_none_free() -> None:
    found = room(asking(), [a_node("n1", 1)], [a_holder("a", gpus=4)])
    assert (found.free, found.missing) == (0, 4)
