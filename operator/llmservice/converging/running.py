"""What the replicas are made from while the newest revision is not written yet: a change that waits.

It waits for devices, or for its model to be downloaded, and may do so for days. Until then those that run are judged,
read and scaled by what they were made from; the newest fields that change no pod hold for them too.
"""

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.converging.revisions import InForce, as_it_served
from llmservice.converging.rollback import MakePlan
from llmservice.converging.rollout_step import Rollout
from llmservice.converging.template_source import made_from
from llmservice.errors import InvalidSpec
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan


def as_it_runs(force: InForce, deployment: Manifest | None, facts: str) -> Manifest | None:
    """The resource with what the Deployment's template was made from; None where that is what is in force.

    None too where it is not known: the template was made before it was kept, or is too long to be. `facts` are those
    of the plan in force.
    """
    text = made_from(deployment)
    if not text or text == force.source_with(facts):
        return None
    return as_it_served(force.newest, text)


def plan_that_runs(
    force: InForce, plan: ServicePlan, deployment: Manifest | None, rollout: Rollout, make_plan: MakePlan
) -> ServicePlan:
    """The plan of the replicas there are: that in force (`plan`), unless it waits; that too where it is not known."""
    body = as_it_runs(force, deployment, plan.facts) if rollout.blocked else None
    try:
        return plan if body is None else make_plan(LLMService.parse(body))
    except InvalidSpec:
        return plan
