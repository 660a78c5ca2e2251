"""The PodDisruptionBudget: a drained node takes one replica at a time."""

from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.metadata import child, selector


def disruption_budget(plan: ServicePlan) -> Manifest | None:
    """None for a single replica: a budget for it would only block the drain of its node.

    Decided by the spec's bound, not by what runs, so that it does not come and go with the load. A replica that
    loads or fails serves nobody and may always go: kept, replicas of which none is ready would block every drain.
    """
    if plan.replica_bound <= 1:
        return None
    spec = {
        "maxUnavailable": 1,
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
        "selector": {"matchLabels": selector(plan)},
    }
    return child(plan, "policy/v1", "PodDisruptionBudget", spec)
