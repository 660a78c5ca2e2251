"""Nodes and pods with devices, as the API server lists them."""

from typing import Any

from llmservice.objects.references import Manifest

GPU = "nvidia.com/gpu"


def a_node(name: str = "n1", gpus: int | str = 1, **changes: Any) -> Manifest:
    """A node that is ready; `labels`, `taints`, `unschedulable`, `ready` and `resource` say otherwise."""
    ready = "True" if changes.get("ready", True) else "False"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": changes.get("labels", {})},
        "spec": {key: changes[key] for key in ("taints", "unschedulable") if key in changes},
        "status": {
            "allocatable": {"cpu": "16", changes.get("resource", GPU): str(gpus)},
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


def asking(gpus: int | str = 1, resource: str = GPU) -> dict[str, Any]:
    """The spec of a pod that asks for devices."""
    return {"containers": [{"name": "engine", "resources": {"limits": {resource: str(gpus)}}}]}


def a_holder(name: str, node: str = "n1", gpus: int = 1, *, phase: str = "Running", **metadata: Any) -> Manifest:
    """A pod that holds devices of a node."""
    spec = {**asking(gpus), **({"nodeName": node} if node else {})}
    names = {"name": name, "namespace": "other", "uid": f"uid-{name}"}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": names | metadata}
    return body | {"spec": spec, "status": {"phase": phase}}
