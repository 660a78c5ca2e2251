"""The decision to go back: whether what served before can be planned again, and is something else than what failed."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.converging.conditions import timestamp
from llmservice.converging.giving_up import Verdict
from llmservice.converging.observed import Observed
from llmservice.converging.progress import Progress
from llmservice.converging.redaction import redacted
from llmservice.converging.revisions import Failed, InForce, as_it_served
from llmservice.converging.template_source import (
    digest_of_request,
    digest_of_source,
    made_from,
    served_source,
    with_sources,
)
from llmservice.converging.updates import made_by_newer
from llmservice.errors import InvalidSpec
from llmservice.objects.references import Manifest
from llmservice.objects.workloads import template_of
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.workload import workload as rendered

_LONGEST_MESSAGE = 1024

MakePlan = Callable[[LLMService], ServicePlan]


def decide(
    force: InForce,
    service: LLMService,
    plan: ServicePlan,
    verdict: Verdict,
    deployment: Manifest | None,
    make_plan: MakePlan,
    now: datetime,
) -> Failed | None:
    """What is given up of a service; None while the newest revision goes on, and where there is nothing to go back to.

    Nothing is given up where the pods of the revision before would be the same, cannot be planned any more, or were
    rendered by a newer operator: then they could not be made as they were.
    """
    if verdict.reason is None or force.failed or made_by_newer(plan) or source_in(force, plan, deployment) is None:
        return None
    before = _plan_before(force, deployment, make_plan)
    if before is None or made_by_newer(before) or _template(before) == _template(plan):
        return None
    return Failed(
        generation=plan.owner.generation,
        digest=digest_of_request(service),
        reason=verdict.reason,
        message=redacted(verdict.message)[:_LONGEST_MESSAGE],
        at=timestamp(now),
    )


def source_in(force: InForce, plan: ServicePlan, deployment: Manifest | None) -> str | None:
    """The digest of what this plan's pods are made from; None while the Deployment's template is another one."""
    text = force.source_with(plan.facts)
    return None if deployment is None or made_from(deployment) != text else digest_of_source(text)


def with_sources_of(
    force: InForce, plan: ServicePlan, manifests: Iterable[Manifest], live: Manifest | None
) -> tuple[Manifest, ...]:
    """The manifests of a plan, with what its template is made from and what served before on the Deployment."""
    served = force.served.digest if force.served else ""
    return with_sources(manifests, force.source_with(plan.facts), live, served)


def rollout_plan(force: InForce, plan: ServicePlan) -> ServicePlan:
    """The plan by which it is decided how the replicas are replaced. The way back waits for nothing.

    What fails holds devices, and gives them up first; replicas that still serve are of the template that comes back.
    """
    if not force.source:
        return plan
    return dataclasses.replace(
        plan, rollout=dataclasses.replace(plan.rollout, by_free_devices=False, allow_downtime=True)
    )


def pods_judged(force: InForce, observed: Observed, progress: Progress) -> Observed:
    """What is diagnosed: after a rollback only the pods of what serves, once the Deployment's controller knows of it.

    Those that failed are told of elsewhere, and go.
    """
    if not force.source:
        return observed
    return dataclasses.replace(observed, pods=observed.updated if progress.seen else ())


def _plan_before(force: InForce, deployment: Manifest | None, make_plan: MakePlan) -> ServicePlan | None:
    """The plan of what served last; None where that is not known any more, or is not valid with the newest fields."""
    text = served_source(deployment, force.served.digest) if force.served else ""
    body = as_it_served(force.newest, text)
    try:
        return make_plan(LLMService.parse(body)) if body else None
    except InvalidSpec:
        return None


def _template(plan: ServicePlan) -> Mapping[str, Any]:
    return template_of(rendered(plan, None))
