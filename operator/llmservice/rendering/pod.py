"""The pod template."""

import dataclasses
from typing import Any

from llmservice.objects.references import Manifest
from llmservice.planning.pod_plan import Mount
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.affinity import affinity
from llmservice.rendering.container import PORT_NAME, container, worker_container
from llmservice.rendering.metadata import labels, selector
from llmservice.rendering.proxy import proxy_annotations, proxy_container, proxy_volumes
from llmservice.rendering.proxy_config import PROBE_PORT


def pod_template(plan: ServicePlan) -> Manifest:
    """The template; the operator's labels cannot be overridden."""
    metadata: Manifest = {"labels": {**plan.pod.labels, **labels(plan)}}
    annotations = {**plan.pod.annotations, **(proxy_annotations(plan.proxy) if plan.proxy else {})}
    if annotations:
        metadata["annotations"] = annotations
    engine = container(plan.container, plan.pod, PROBE_PORT if plan.proxy else PORT_NAME)
    return {"metadata": metadata, "spec": _spec(plan, engine)}


def worker_template(plan: ServicePlan) -> Manifest:
    """The template of a group's other pods: the same but for the process, and for all that has to do with clients.

    Whether it is well is seen by the first pod, which is ready only while all of them work together.
    """
    if plan.worker is None:
        raise ValueError(f"{plan.owner.namespace}/{plan.owner.name}: a replica on one node has no workers")
    alone = dataclasses.replace(plan, proxy=None)
    spec = _spec(alone, worker_container(plan.container, plan.worker, plan.pod))
    spec["terminationGracePeriodSeconds"] = plan.worker.grace_seconds
    return {**pod_template(alone), "spec": spec}


def _spec(plan: ServicePlan, engine: Manifest) -> Manifest:
    pod = plan.pod
    spec: Manifest = {
        **pod.passthrough,
        "containers": [engine],
        "securityContext": dict(pod.security),
        "terminationGracePeriodSeconds": pod.termination_grace_seconds,
        # Service environment variables would be read as options: a Service named vllm sets VLLM_PORT.
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
    }
    optional: dict[str, Any] = {
        "affinity": affinity(pod.passthrough.get("affinity", {}), pod.node_terms),
        "shareProcessNamespace": pod.share_process_namespace,
        "tolerations": list(pod.tolerations),
        "topologySpreadConstraints": _spread(plan),
        "initContainers": [proxy_container(plan.proxy)] if plan.proxy else [],
        "volumes": _volumes(plan),
    }
    return {**spec, **{name: value for name, value in optional.items() if value}}


def _volumes(plan: ServicePlan) -> list[Manifest]:
    engine = {mount.name: volume_of(mount) for mount in plan.pod.mounts}
    return [*engine.values(), *(proxy_volumes(plan.proxy) if plan.proxy else ())]


def _spread(plan: ServicePlan) -> list[Manifest]:
    """The user's constraints; one without a selector counts the pods of this resource."""
    own = {"labelSelector": {"matchLabels": selector(plan)}}
    constraints: list[dict[str, Any]] = plan.pod.passthrough.get("topologySpreadConstraints", [])
    return [{**own, **constraint} for constraint in constraints]


def volume_of(mount: Mount) -> Manifest:
    """The volume of a mount as a pod has it."""
    return {"name": mount.name, **mount.source}
