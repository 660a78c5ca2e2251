"""What stands in a namespace, as text that is the same for two runs of the same scene."""

import json
from typing import Any

from tests.cluster.kube import Body, Kube

CHILDREN = ("Deployment", "Service", "PodDisruptionBudget")
_VOLATILE = frozenset(
    {"uid", "resourceVersion", "creationTimestamp", "managedFields", "lastTransitionTime", "lastUpdateTime"}
    | {"clusterIP", "clusterIPs", "llmservice.dev/intent", "deployment.kubernetes.io/revision"}
)


def state_of(kube: Kube) -> str:
    """The resource and its children. What other controllers say of the children is left out: it comes when it comes."""
    resource = kube.get("LLMService", "chat")
    uid = resource["metadata"]["uid"] if resource else ""
    children = [{key: value for key, value in child.items() if key != "status"} for child in children_of(kube)]
    masked = [_masked(body) for body in [resource, *children] if body]
    text = json.dumps(masked, indent=1, sort_keys=True)
    return text.replace(kube.namespace, "NAMESPACE").replace(uid or "-", "UID")


def children_of(kube: Kube) -> list[Body]:
    """The resource's children, whoever owns them."""
    return [child for kind in CHILDREN if (child := kube.get(kind, "chat"))]


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        # The uid within an owner's reference tells whose child it is.
        return {key: _masked(item) for key, item in value.items() if key not in _VOLATILE or _is_owner(key, value)}
    return [_masked(item) for item in value] if isinstance(value, list) else value


def _is_owner(key: str, value: dict[str, Any]) -> bool:
    return key == "uid" and "controller" in value
