"""The Deployment: the replicas and how they are replaced."""

from llmservice.objects.names import RENDER_VERSION_ANNOTATION
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.metadata import child, selector
from llmservice.rendering.pod import pod_template

_OLD_REPLICA_SETS = 3


def deployment(plan: ServicePlan, replicas: int | None) -> Manifest:
    """The Deployment; without `replicas` the field is left to its owner."""
    rollout = plan.rollout
    spec: Manifest = {
        # The default, stated so that a foreign `true` is reverted: a paused rollout never ends.
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
    # On the Deployment only: in the template a new version would restart every model.
    manifest["metadata"]["annotations"] = {RENDER_VERSION_ANNOTATION: str(plan.render_version)}
    return manifest
