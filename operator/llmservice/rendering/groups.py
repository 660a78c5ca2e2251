"""The LeaderWorkerSet: replicas that are groups of pods on several nodes, and how they are replaced.

Its fields are read in sigs.k8s.io/lws v0.9.0, api/leaderworkerset/v1/leaderworkerset_types.go.
"""

import hashlib
from typing import Any

import orjson

from llmservice.objects.names import RENDER_VERSION_ANNOTATION, TEMPLATE_ANNOTATION
from llmservice.objects.references import Manifest
from llmservice.objects.workloads import GROUPS
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.metadata import child
from llmservice.rendering.pod import pod_template, worker_template

API_VERSION = "leaderworkerset.x-k8s.io/v1"


def leader_worker_set(plan: ServicePlan, replicas: int | None) -> Manifest:
    """The groups; without `replicas` the field is left to its owner.

    A group has no part that serves without the others, so all of it is made anew when one container ends. The workers
    start with their leader: it is not ready before they have joined. Each group has a headless Service of its own: the
    one of the whole set would have the name of ours.
    """
    rollout = plan.rollout
    shape = {"maxSurge": rollout.max_surge, "maxUnavailable": rollout.max_unavailable, "partition": 0}
    spec: Manifest = {
        "leaderWorkerTemplate": {
            **_marked({"leaderTemplate": pod_template(plan), "workerTemplate": worker_template(plan)}),
            "size": plan.nodes,
            "restartPolicy": "RecreateGroupOnPodRestart",
        },
        "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": shape},
        "startupPolicy": "LeaderCreated",
        "networkConfig": {"subdomainPolicy": "UniquePerReplica"},
    }
    if replicas is not None:
        spec["replicas"] = replicas
    manifest = child(plan, API_VERSION, GROUPS, spec)
    manifest["metadata"]["annotations"] = {RENDER_VERSION_ANNOTATION: str(plan.render_version)}
    return manifest


def _marked(templates: dict[str, Manifest]) -> dict[str, Manifest]:
    """Each with the digest of both, by which a pod tells what it was made from."""
    digest = hashlib.blake2b(orjson.dumps(templates, option=orjson.OPT_SORT_KEYS), digest_size=12).hexdigest()
    return {name: _annotated(template, {TEMPLATE_ANNOTATION: digest}) for name, template in templates.items()}


def _annotated(template: Manifest, annotations: dict[str, Any]) -> Manifest:
    metadata = template["metadata"]
    return {**template, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), **annotations}}}
