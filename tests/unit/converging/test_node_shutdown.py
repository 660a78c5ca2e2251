"""Nodes that are shut down: told by the kubelet's words, and noticed by what their controller does to pods."""

from typing import Any

import pytest

from llmservice.converging.leaving_nodes import why_leaving
from llmservice.converging.node_shutdown import is_marked, is_shut_down, to_delete

SAID = "node is shutting down"
"""As Kubernetes 1.34 joins it with what else is wrong (pkg/kubelet/nodestatus/setters.go)."""


def a_node(status: str, message: str) -> dict[str, Any]:
    condition = {"type": "Ready", "status": status, "reason": "KubeletNotReady", "message": message}
    return {"metadata": {"name": "node-1"}, "spec": {}, "status": {"conditions": [condition]}}


@pytest.mark.parametrize("message", [SAID, f"[container runtime is down, {SAID}]"])
def test_a_node_is_shut_down_when_its_kubelet_says_so(message: str) -> None:
    node = a_node("False", message)
    assert is_shut_down(node)
    assert why_leaving(node)


@pytest.mark.parametrize(
    "node",
    [
        a_node("True", "kubelet is posting ready status"),
        a_node("False", "container runtime is down"),
        a_node("Unknown", "Kubelet stopped posting node status."),
        {"metadata": {"name": "node-1"}},
    ],
)
def test_a_node_that_fails_is_not_shut_down(node: dict[str, Any]) -> None:
    assert not is_shut_down(node)


def a_pod(ready: str = "True", containers: str = "True", **metadata: Any) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": ready}, {"type": "ContainersReady", "status": containers}]
    return {
        "kind": "Pod",
        "metadata": {"name": "chat-0", "uid": "1", **metadata},
        "spec": {"nodeName": "node-1"},
        "status": {"phase": "Running", "conditions": conditions},
    }


def test_a_pod_that_is_unready_although_its_containers_are_ready_is_marked() -> None:
    assert is_marked(a_pod(), a_pod(ready="False"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, a_pod(ready="False")),
        (a_pod(), None),
        (a_pod(), a_pod(ready="False", containers="False")),
        (a_pod(ready="False"), a_pod(ready="False")),
        (a_pod(ready="False"), a_pod()),
        (a_pod(), a_pod(ready="False", deletionTimestamp="2026-01-01T00:00:00Z")),
    ],
)
def test_no_other_change_is_taken_for_a_mark(before: dict[str, Any] | None, after: dict[str, Any] | None) -> None:
    assert not is_marked(before, after)


def test_living_replicas_of_the_node_are_deleted_also_those_that_load() -> None:
    ended = {**a_pod(name="ended"), "status": {"phase": "Failed"}}
    going = a_pod(name="going", deletionTimestamp="2026-01-01T00:00:00Z")
    elsewhere = {**a_pod(name="elsewhere"), "spec": {"nodeName": "node-2"}}
    unplaced = {**a_pod(name="unplaced"), "spec": {}}
    pods = [a_pod(name="serves"), a_pod("False", "False", name="loads"), ended, going, elsewhere, unplaced]
    doomed = to_delete(pods, frozenset({"node-1"}))
    assert [pod["metadata"]["name"] for pod in doomed] == ["serves", "loads"]
