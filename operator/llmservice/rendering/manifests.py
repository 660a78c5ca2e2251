"""The children of a resource, in the order in which they are applied."""

from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.deployment import deployment
from llmservice.rendering.disruption_budget import disruption_budget
from llmservice.rendering.network_policy import network_policy
from llmservice.rendering.service import service

CHILD_KINDS = ("Service", "NetworkPolicy", "PodDisruptionBudget", "Deployment")
"""Every kind that a plan can render to. The address, the policy and the budget are there before the first pod."""


def render(plan: ServicePlan, replicas: int | None) -> tuple[Manifest, ...]:
    """The manifests of a plan; with None the Deployment leaves `replicas` to whoever owns the field.

    The same plan always gives the same manifests, in the form in which the API server stores them. Parts of the plan
    are shared, not copied: treat manifests as values.
    """
    children = (service(plan), network_policy(plan), disruption_budget(plan), deployment(plan, replicas))
    return tuple(child for child in children if child is not None)
