"""Counts the devices that are free for one more replica: nodes that the pod may run on, less what pods take there."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llmservice.objects.device_amounts import Devices, devices_in, devices_of
from llmservice.objects.node_fit import admits
from llmservice.objects.pods import condition, has_ended
from llmservice.objects.references import Manifest, uid_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceNode:
    """A node with devices, by what may be allocated. `is_open`: it is ready and takes new pods."""

    name: str
    is_open: bool
    devices: Devices
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePod:
    """A pod that holds devices of a node until it has ended, however long it has been deleted."""

    uid: str
    node: str
    devices: Devices


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """The pods of the service that is rolled out, by UID; those that are `leaving` are the first that it gives up."""

    uids: frozenset[str] = frozenset()
    leaving: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What was counted for one replica of `needs`.

    `total` and `free` are devices of the resource it needs most of, on nodes that it may run on. `node` has room for
    the whole replica; empty when none has. `missing` is how many devices the best node lacks. `released`: once one of
    the service's own replicas has gone, there is room.
    """

    needs: Devices
    total: int
    free: int
    node: str
    missing: int
    released: bool


@dataclass(frozen=True, slots=True)
class Uncounted:
    """Why nothing was counted, in a few words."""

    why: str


NO_RIGHT = Uncounted("the operator may not list nodes and pods of the cluster")
NO_ANSWER = Uncounted("the lists of nodes and pods fail or take too long")


def device_node(node: Manifest) -> DeviceNode | None:
    """What counts of a node; None of one without devices."""
    spec, status = node.get("spec") or {}, node.get("status") or {}
    devices = devices_in(status.get("allocatable"))
    if not devices:
        return None
    is_ready = condition(node, "Ready").get("status") == "True"
    return DeviceNode(
        name=node["metadata"]["name"],
        is_open=is_ready and not spec.get("unschedulable"),
        devices=devices,
        labels=node["metadata"].get("labels") or {},
        taints=tuple(spec.get("taints") or ()),
    )


def device_pod(pod: Manifest) -> DevicePod | None:
    """What counts of a pod; None of one that holds no devices, or is on no node."""
    spec = pod.get("spec") or {}
    node, devices = spec.get("nodeName"), devices_of(spec)
    return DevicePod(uid=uid_of(pod), node=node, devices=devices) if node and devices and not has_ended(pod) else None


def candidates(pod_spec: Mapping[str, Any], nodes: Iterable[DeviceNode]) -> list[DeviceNode]:
    """The nodes that a pod may run on, and that would have its devices if nothing else ran there."""
    needs = devices_of(pod_spec)
    return [
        node
        for node in nodes
        if node.is_open and _covers(node.devices, needs) and admits(node.labels, node.name, node.taints, pod_spec)
    ]


def count_room(
    pod_spec: Mapping[str, Any],
    nodes: Iterable[DeviceNode],
    pods: Iterable[DevicePod],
    own: Own = Own(),
    promised: Iterable[tuple[str, Devices]] = (),
) -> Room:
    """What is free for one more pod. `nodes` are its candidates, `promised` what others are about to take of a node.

    A replica runs on one node: devices that are free on several do not add up. Of the nodes with room the fullest is
    named, so that whole nodes stay free for larger replicas.
    """
    needs = devices_of(pod_spec)
    pods = list(pods)
    free = {node.name: Counter(node.devices) for node in nodes}
    total = {name: Counter(devices) for name, devices in free.items()}
    taken = [(pod.node, pod.devices) for pod in pods if pod.uid not in own.leaving]
    for name, devices in (*taken, *promised):
        if name in free:
            free[name].subtract(devices)
    resource = max(needs, key=lambda name: needs[name], default="")
    roomy = sorted((sum(devices.values()), name) for name, devices in free.items() if _covers(devices, needs))
    lacking = [sum(max(0, count - devices[name]) for name, count in needs.items()) for devices in free.values()]
    return Room(
        needs=needs,
        total=sum(devices[resource] for devices in total.values()),
        free=sum(max(0, devices[resource]) for devices in free.values()),
        node=roomy[0][1] if roomy else "",
        missing=min(lacking, default=sum(needs.values())),
        released=any(_covers(free[pod.node] + Counter(pod.devices), needs) for pod in _own(pods, own, free)),
    )


def _own(pods: Iterable[DevicePod], own: Own, free: Mapping[str, Devices]) -> Iterable[DevicePod]:
    return [pod for pod in pods if pod.uid in own.uids - own.leaving and pod.node in free]


def _covers(devices: Devices, needs: Devices) -> bool:
    return all(devices.get(name, 0) >= count for name, count in needs.items())
