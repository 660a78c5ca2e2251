"""Nodes that are shut down, and the replicas that are to leave them at once.

A kubelet that takes part in the shutdown of its machine (graceful node shutdown) ends its pods itself and deletes none.
So they stay among the endpoints until they are gone, and what they are asked meanwhile is cut at the end of the grace:
kubernetes/kubernetes issue 116965. A pod that is deleted takes no new connections, and its replacement starts at once;
the kubelet goes on with the end that it has begun, within the shorter of the two graces.

The words are those of Kubernetes 1.34: pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go. The kubelet says them at
once in the node's condition Ready. Then the node controller marks the node's pods as not ready (MarkPodsNotReady in
pkg/controller/util/node/controller_utils.go) and the kubelet takes that back: for us it is the sign to look.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from llmservice.objects.pods import condition, is_living, is_ready
from llmservice.objects.references import Manifest, is_being_deleted

_SAID = "node is shutting down"


def is_shut_down(node: Mapping[str, Any]) -> bool:
    """Whether the kubelet says that its node is being shut down; no other node that is not ready counts."""
    ready = condition(node, "Ready")
    return ready.get("status") == "False" and _SAID in str(ready.get("message") or "")


def is_marked(before: Manifest | None, after: Manifest | None) -> bool:
    """Whether a pod was just marked as not ready though its containers are: not its engine, its node has failed."""
    if before is None or after is None or after.get("kind") != "Pod" or not is_ready(before):
        return False
    unready = condition(after, "Ready").get("status") == "False" and not is_being_deleted(after)
    return unready and condition(after, "ContainersReady").get("status") == "True"


def to_delete(replicas: Iterable[Manifest], nodes: frozenset[str]) -> list[Manifest]:
    """The living replicas on these nodes, those that load a model too: they would never get ready there."""
    return [pod for pod in replicas if is_living(pod) and (pod.get("spec") or {}).get("nodeName") in nodes]


def shutdown_message(node: str, replicas: int) -> str:
    """What is said when replicas are deleted because their node is shut down."""
    which, they = ("its replica is", "it takes") if replicas == 1 else (f"its {replicas} replicas are", "they take")
    return (
        f"node {node} is shut down: {which} deleted, so that {they} no new requests and a replacement starts "
        "elsewhere; running requests are finished within the kubelet's shutdownGracePeriod"
    )
