"""Nodes without a kubelet, labelled and tainted as a platform would: the scheduler binds pods to them, and that is all.

Nobody renews their leases, so after about 40 seconds the node lifecycle controller taints them: a test looks at once.
"""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.cluster.kube import Body, Kube

_ORDINARY = {"cpu": "64", "memory": "512Gi", "pods": "20", "ephemeral-storage": "1Ti"}

_OF_EVERY_NODE = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}


@dataclass(frozen=True, kw_only=True)
class FakeNode:
    """What a platform says of one of its nodes."""

    labels: Mapping[str, str]
    devices: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...] = ()
    name: str = field(default_factory=lambda: f"fake-{secrets.token_hex(3)}")

    def manifest(self) -> Body:
        """The Node as its kubelet would register it."""
        taints = [dict(taint) for taint in self.taints]
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "labels": {**_OF_EVERY_NODE, **self.labels}},
            "spec": {"taints": taints},
        }

    def status(self) -> Body:
        """Its kubelet's first report."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "a word of nobody"}
        amounts = {**_ORDINARY, **self.devices}
        conditions = [{**ready, "lastHeartbeatTime": now, "lastTransitionTime": now}]
        return {"status": {"capacity": amounts, "allocatable": amounts, "conditions": conditions}}


@contextmanager
def standing(kube: Kube, *nodes: FakeNode) -> Iterator[None]:
    """The nodes are there and take pods; afterwards they and the pods bound to them are gone."""
    everywhere, names = kube.within(""), [node.name for node in nodes]
    try:
        for node in nodes:
            everywhere.create(node.manifest())
            everywhere.patch("Node", node.name, node.status(), sub="status")
        everywhere.wait(
            lambda: True if all(_takes_pods(everywhere, name) for name in names) else None,
            lambda: everywhere.list("Node"),
            seconds=60,
        )
        yield
    finally:
        for name in names:
            everywhere.delete("Node", name)
        everywhere.wait(lambda: None if _end_pods(everywhere, names) else True, lambda: names)


@contextmanager
def cordoned(kube: Kube, name: str) -> Iterator[None]:
    """The node takes no pods meanwhile."""
    everywhere = kube.within("")
    everywhere.patch("Node", name, {"spec": {"unschedulable": True}})
    try:
        yield
    finally:
        everywhere.patch("Node", name, {"spec": {"unschedulable": None}})


def _takes_pods(kube: Kube, name: str) -> bool:
    """The taint of a node that is not ready is set at its creation and taken away after its first report."""
    node = kube.get("Node", name) or {}
    taints = node.get("spec", {}).get("taints") or ()
    return not any(taint["key"].startswith("node.kubernetes.io/") for taint in taints)


def _end_pods(kube: Kube, names: list[str]) -> int:
    """Delete the pods bound to the nodes; no kubelet would ever end them. Returns how many there were."""
    pods = [pod for pod in kube.list("Pod") if pod["spec"].get("nodeName") in names]
    for pod in pods:
        where = kube.within(pod["metadata"]["namespace"])
        where.delete("Pod", pod["metadata"]["name"], grace_seconds=0)
    return len(pods)
