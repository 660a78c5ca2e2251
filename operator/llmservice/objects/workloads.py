"""The workload of a service: a Deployment of single pods, or a LeaderWorkerSet of groups, each on several nodes.

Both count replicas in `spec.replicas`, and say in the same fields of their status how far they are.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from llmservice.objects.references import Manifest

DEPLOYMENT, GROUPS = "Deployment", "LeaderWorkerSet"
WORKLOADS = (DEPLOYMENT, GROUPS)
"""The kinds. A service has one of them, but for the moment in which it changes from one to several nodes, or back."""


def kind_for(spec: Mapping[str, Any]) -> str:
    """The kind that a spec asks for, as it was written."""
    nodes = (spec.get("gpu") or {}).get("nodes") or 1
    return GROUPS if nodes > 1 else DEPLOYMENT


def is_workload(manifest: Mapping[str, Any]) -> bool:
    """Whether replicas are made from it."""
    return manifest.get("kind") in WORKLOADS


def workload_in(manifests: Iterable[Manifest]) -> Manifest:
    """The workload among the children of one plan."""
    return next(manifest for manifest in manifests if is_workload(manifest))


def newest_of(workloads: Iterable[Manifest]) -> Manifest | None:
    """The one made last, while the one before it, of the other kind, is being deleted; None of none."""
    return max(workloads, key=lambda each: str(each["metadata"].get("creationTimestamp") or ""), default=None)


def template_of(workload: Mapping[str, Any]) -> Mapping[str, Any]:
    """What pods are made from: a pod template, or what a group of them is."""
    spec: Mapping[str, Any] = workload["spec"]
    template: Mapping[str, Any] = spec["leaderWorkerTemplate" if workload["kind"] == GROUPS else "template"]
    return template


def pod_templates(workload: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The pod templates: one, or that of a group's first pod and that of the others."""
    template = template_of(workload)
    return (template["leaderTemplate"], template["workerTemplate"]) if workload["kind"] == GROUPS else (template,)


def answering_template(workload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The template of the pods that answer clients."""
    return pod_templates(workload)[0]


def with_strategy(workload: Manifest, surge: int, unavailable: int) -> dict[str, Any]:
    """The spec with so many replicas more, or fewer, while they are replaced."""
    spec, shape = workload["spec"], {"maxSurge": surge, "maxUnavailable": unavailable}
    if workload["kind"] == GROUPS:
        strategy = spec["rolloutStrategy"]
        rolling = {**strategy.get("rollingUpdateConfiguration", {}), **shape}
        return {**spec, "rolloutStrategy": {**strategy, "rollingUpdateConfiguration": rolling}}
    return {**spec, "strategy": {**spec["strategy"], "rollingUpdate": shape}}
