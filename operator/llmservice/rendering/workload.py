"""The workload: what makes the replicas of a plan."""

from llmservice.objects.references import Manifest
from llmservice.objects.workloads import GROUPS
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.deployment import deployment
from llmservice.rendering.groups import leader_worker_set


def workload(plan: ServicePlan, replicas: int | None) -> Manifest:
    """Single pods, or groups of them; without `replicas` the field is left to its owner."""
    return (leader_worker_set if plan.workload_kind == GROUPS else deployment)(plan, replicas)
