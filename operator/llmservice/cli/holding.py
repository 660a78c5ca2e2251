"""Why a service has its number of replicas where no autoscaler of the operator decides it: from the objects alone."""

from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType
from llmservice.converging.replicas import live_replicas, owners_of_replicas
from llmservice.objects.names import OPERATOR
from llmservice.objects.pods import condition
from llmservice.objects.references import Manifest

_SHOWN = (ConditionType.READY, ConditionType.RECONCILING, ConditionType.STALLED)
_NOTHING_SAID = "nothing yet"


def is_autoscaled(service: Manifest) -> bool:
    """Whether the operator's own autoscaler decides."""
    spec = service.get("spec") or {}
    return bool(spec.get("autoscaling")) and spec.get("replicas") is None and not spec.get("suspend")


def last_told(service: Manifest) -> str:
    """What the operator said of the replicas last, from the status."""
    status = service.get("status") or {}
    told = (status.get("autoscaling") or {}).get("message") or condition(service, ConditionType.READY).get("message")
    return str(told or _NOTHING_SAID)


def held(service: Manifest, deployment: Manifest | None, *, is_hidden: bool = False) -> dict[str, Any]:
    """An explanation: what holds, and why. `is_hidden`: the Deployment may not be read."""
    metadata, status = service["metadata"], (deployment or {}).get("status") or {}
    counts = {"desired": live_replicas(deployment), "ready": status.get("readyReplicas", 0)} if deployment else {}
    by, message = _why(service.get("spec") or {}, deployment, is_hidden=is_hidden)
    return {
        "namespace": metadata.get("namespace", ""),
        "name": metadata["name"],
        "held": {"by": by, "message": message},
        **({"replicas": counts} if counts else {}),
        "conditions": [
            {name: str(each.get(name, "")) for name in ("type", "status", "reason", "message")}
            for kind in _SHOWN
            if (each := condition(service, kind)) and (kind is ConditionType.READY or each.get("status") == "True")
        ],
    }


def _why(spec: dict[str, Any], deployment: Manifest | None, *, is_hidden: bool) -> tuple[str, str]:
    if spec.get("suspend"):
        return "spec.suspend", "suspended: no replica until spec.suspend is false"
    if spec.get("replicas") is not None:
        return (
            "spec.replicas",
            f"spec.replicas says {spec['replicas']}; set spec.autoscaling instead to have it follow the load",
        )
    return _unfixed(spec, deployment, is_hidden=is_hidden)


def _unfixed(spec: dict[str, Any], deployment: Manifest | None, *, is_hidden: bool) -> tuple[str, str]:
    """Where the resource says no number."""
    if is_hidden:
        return (
            "unknown",
            "spec.replicas is not set; who sets the Deployment's you may not see: get deployments would show it",
        )
    if deployment is None:
        return "nothing", "there is no Deployment yet"
    if others := sorted(owners_of_replicas(deployment) - {OPERATOR}):
        return (
            "another writer",
            f"set by {', '.join(others)}, which writes the Deployment's replicas; the operator leaves them",
        )
    if spec.get("autoscaling"):
        return "the autoscaler", "the autoscaler has not looked at it yet: wait until it is Ready"
    return (
        "the default",
        "neither spec.replicas nor spec.autoscaling is set, and nobody else writes them: they stay as they are",
    )
