"""The PodDisruptionBudget: a drained node takes one replica at a time."""

from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.metadata import child, selector


def disruption_budget(plan: ServicePlan) -> Manifest | None:
    """None for a single replica: a budget for it would only block the drain of its node.

    Decided by the spec's upper bound and not by live replicas, so that it does not come and go with the load. A replica
    that is not ready may always be evicted: otherwise a service with no ready replica would block every drain.
    """
    if plan.replica_bound <= 1:
        return None
    spec = {
        "maxUnavailable": 1,
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
        "selector": {"matchLabels": selector(plan)},
    }
    return child(plan, "policy/v1", "PodDisruptionBudget", spec)
