"""The Deployment: the replicas and how they are replaced."""

from llmservice.objects.names import RENDER_VERSION_ANNOTATION
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.metadata import child, selector
from llmservice.rendering.pod import pod_template

_OLD_REPLICA_SETS = 3


def deployment(plan: ServicePlan, replicas: int | None) -> Manifest:
    """The workload; without `replicas` the field is left to whoever owns it."""
    rollout = plan.rollout
    spec: Manifest = {
        # Stated, though it is the default, so that it is taken back: no rollout would ever end.
        "paused": False,
        "selector": {"matchLabels": selector(plan)},
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": rollout.max_surge, "maxUnavailable": rollout.max_unavailable},
        },
        "progressDeadlineSeconds": rollout.progress_deadline_seconds,
        "revisionHistoryLimit": _OLD_REPLICA_SETS,
        "template": pod_template(plan),
    }
    if replicas is not None:
        spec["replicas"] = replicas
    manifest = child(plan, "apps/v1", "Deployment", spec)
    # On the Deployment alone: in the template a new number would restart every model.
    manifest["metadata"]["annotations"] = {RENDER_VERSION_ANNOTATION: str(plan.render_version)}
    return manifest
