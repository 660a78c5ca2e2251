"""What the API server fills in when a field is not stated (recorded on Kubernetes 1.34)."""

from collections.abc import Mapping
from typing import Any

from llmservice.objects.references import Manifest

_POD = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
_CONTAINER = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_BY_KIND: Mapping[str, Mapping[str, Any]] = {
    "LLMService": {"status": {"observedGeneration": -1}},
    "Deployment": {
        "spec": {
            "replicas": 1,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
            "revisionHistoryLimit": 10,
            "progressDeadlineSeconds": 600,
        },
        "status": {},
    },
    "Service": {
        "spec": {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster"},
        "status": {"loadBalancer": {}},
    },
    "Job": {
        "spec": {
            "parallelism": 1,
            "completions": 1,
            "completionMode": "NonIndexed",
            "backoffLimit": 6,
            "manualSelector": False,
            "podReplacementPolicy": "TerminatingOrFailed",
            "suspend": False,
        },
        "status": {},
    },
    "PersistentVolumeClaim": {"spec": {"volumeMode": "Filesystem"}, "status": {"phase": "Pending"}},
    "PodDisruptionBudget": {
        "status": {"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0},
    },
}


def defaulted(manifest: Manifest) -> Manifest:
    """The manifest with every default its kind has."""
    filled = _filled(manifest, _BY_KIND.get(manifest["kind"], {}))
    spec = filled.get("spec", {})
    if manifest["kind"] in {"Deployment", "Job"}:
        template = spec["template"]
        filled = {**filled, "spec": {**spec, "template": {**template, "spec": _pod(template.get("spec", {}))}}}
    if manifest["kind"] == "Service":
        filled = {**filled, "spec": {**spec, "ports": [_service_port(port) for port in spec.get("ports", ())]}}
    return filled


def _pod(spec: Mapping[str, Any]) -> dict[str, Any]:
    containers = [_container(container) for container in spec.get("containers", ())]
    return {**_filled(spec, _POD), "containers": containers}


def _container(container: Mapping[str, Any]) -> dict[str, Any]:
    filled = _filled(container, {**_CONTAINER, "imagePullPolicy": _pull_policy(container["image"])})
    if "ports" in filled:
        filled["ports"] = [_filled(port, {"protocol": "TCP"}) for port in filled["ports"]]
    return filled


def _pull_policy(image: str) -> str:
    """`Always` for what may move: no tag, or latest (kubernetes.io/docs/concepts/containers/images)."""
    name = image.rsplit("/", 1)[-1]
    return "Always" if name.endswith(":latest") or not {":", "@"} & set(name) else "IfNotPresent"


def _service_port(port: Mapping[str, Any]) -> dict[str, Any]:
    return _filled(port, {"protocol": "TCP", "targetPort": port["port"]})


def _filled(value: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults go into maps that are there; a map that is not stated comes whole. Strategy types differ in theirs."""
    filled = dict(value)
    for name, default in defaults.items():
        if name not in filled:
            filled[name] = default
        elif isinstance(default, dict) and isinstance(filled[name], dict) and "type" not in filled[name]:
            filled[name] = _filled(filled[name], default)
    return filled
