"""The children of a resource, in the order in which they are applied."""

from llmservice.objects.references import Manifest
from llmservice.objects.workloads import WORKLOADS
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.disruption_budget import disruption_budget
from llmservice.rendering.network_policy import network_policy
from llmservice.rendering.service import service
from llmservice.rendering.workload import workload

CHILD_KINDS = ("Service", "NetworkPolicy", "PodDisruptionBudget", *WORKLOADS)
"""Every kind that a plan can render. Service, NetworkPolicy and PodDisruptionBudget exist before the first pod."""


def render(plan: ServicePlan, replicas: int | None) -> tuple[Manifest, ...]:
    """The manifests of a plan; with None the workload leaves `replicas` to its owner.

    The same plan always renders the same manifests, in the form in which the API server stores them. They share parts
    with the plan: never modify them.
    """
    children = (service(plan), network_policy(plan), disruption_budget(plan), workload(plan, replicas))
    return tuple(child for child in children if child is not None)
