"""When the startup budget may follow what was learned: with a rollout that an edit makes anyway, never by itself."""

from typing import Protocol

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.converging.intent import covers
from llmservice.objects.references import Manifest
from llmservice.planning.facts import pinned_facts
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.pod import pod_template


class Learning(Protocol):
    """What knows of starts."""

    def with_learned_start(self, service: LLMService, plan: ServicePlan) -> ServicePlan:
        """The plan with the startup budget that follows from all starts that were seen."""
        ...


def learned(planner: Learning, service: LLMService, plan: ServicePlan, workload: Manifest | None) -> ServicePlan:
    """The plan, with what was learned of starts if its pods are going to be replaced anyway.

    `workload` is the Deployment as it stands. A plan of the generation that the status knows stays as it is; so does
    one that leaves the pod template as it is, like an edit of the replicas.
    """
    if pinned_facts(service.status, service.metadata.generation) is not None:
        return plan
    if workload is not None and covers(workload["spec"]["template"], pod_template(plan)):
        return plan
    return planner.with_learned_start(service, plan)
