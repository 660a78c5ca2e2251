"""Which nodes are going: what drains, node autoscalers and clouds write on a node before they empty it.

| written | by |
|---|---|
| `spec.unschedulable` | kubectl cordon and drain, and most of the others |
| taint `karpenter.sh/disrupted` or `…/disruption` | Karpenter (docs/concepts/disruption; the second until 0.37) |
| taint `ToBeDeletedByClusterAutoscaler` | cluster autoscaler (utils/taints/taints.go) |
| taint `aws-node-termination-handler/…` | AWS Node Termination Handler (README.md: spot, rebalance, maintenance) |
| taint `cloud.google.com/impending-node-termination` | GCP's node termination handler (README.md) |
| taint `…cloudprovider.kubernetes.io/shutdown`, `…/out-of-service` | Kubernetes (well-known taints) |
| condition `Ready`, "node is shutting down" | the kubelet (node_shutdown.py) |
"""

from collections.abc import Iterable, Mapping
from typing import Any

from llmservice.converging.node_shutdown import is_shut_down
from llmservice.objects.pods import is_living
from llmservice.objects.references import Manifest
from llmservice.untrusted.texts import cut

_TAINTS = frozenset({
    "karpenter.sh/disrupted",
    "karpenter.sh/disruption",
    "ToBeDeletedByClusterAutoscaler",
    "cloud.google.com/impending-node-termination",
    "node.cloudprovider.kubernetes.io/shutdown",
    "node.kubernetes.io/out-of-service",
})  # fmt: skip
_TAINT_BEGINS = "aws-node-termination-handler/"
_LONGEST = 128


def why_leaving(node: Mapping[str, Any]) -> str:
    """By what is known that a node is going, in a few words; empty when it stays."""
    if is_shut_down(node):
        return "shut down"
    spec = node.get("spec") or {}
    for taint in spec.get("taints") or ():
        key = str(taint.get("key") or "")
        if key in _TAINTS or key.startswith(_TAINT_BEGINS):
            return f"taint {cut(key, _LONGEST)}"
    return "cordoned" if spec.get("unschedulable") else ""


def nodes_of(pods: Iterable[Manifest]) -> frozenset[str]:
    """The nodes of living pods."""
    return frozenset(node for pod in pods if is_living(pod) and (node := (pod.get("spec") or {}).get("nodeName")))


def leaving_message(node: str, why: str, replicas: int) -> str:
    """What is said when a node with replicas is found going."""
    which = "its replica is" if replicas == 1 else f"its {replicas} replicas are"
    return f"node {node} is going ({why}): {which} replaced when it is emptied, and the first to go in a scale-down"
