"""The plan of one service, made once for each generation, its facts, and what its replicas are made from."""

from collections.abc import Callable
from dataclasses import dataclass

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.converging.revisions import InForce
from llmservice.converging.running import as_it_runs
from llmservice.converging.template_source import made_from
from llmservice.errors import InvalidSpec
from llmservice.objects.references import Manifest
from llmservice.planning.facts import pinned_facts
from llmservice.planning.service_plan import ServicePlan

_Origin = tuple[int, str | None, str, str]
"""Generation, facts that stand in the status for it, what the replicas went back to, and what they are made from."""


@dataclass(slots=True)
class PlanCache:
    """The plan that was made last, and what it was made from."""

    _origin: _Origin | None = None
    _plan: ServicePlan | None = None

    def of(
        self, force: InForce, deployment: Manifest | None, make: Callable[[LLMService], ServicePlan]
    ) -> ServicePlan | None:
        """The plan of what runs, until the revision in force is written; None while only an edit can help the spec."""
        origin = _origin(force, deployment)
        if self._origin != origin:
            self._origin, self._plan = origin, _of_replicas(force, deployment, make)
        return self._plan


def _of_replicas(
    force: InForce, deployment: Manifest | None, make: Callable[[LLMService], ServicePlan]
) -> ServicePlan | None:
    plan = _made(force.body, make)
    running = as_it_runs(force, deployment, plan.facts) if plan is not None else None
    return (_made(running, make) if running is not None else None) or plan


def _made(body: Manifest, make: Callable[[LLMService], ServicePlan]) -> ServicePlan | None:
    try:
        return make(LLMService.parse(body))
    except InvalidSpec:
        return None


def _origin(force: InForce, deployment: Manifest | None) -> _Origin:
    generation = int(force.body["metadata"].get("generation", 0))
    pinned = pinned_facts(force.body.get("status") or {}, generation)
    return generation, pinned, force.source, made_from(deployment)
