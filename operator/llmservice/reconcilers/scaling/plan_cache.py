"""The plan of one service, made once for each generation and its facts."""

from collections.abc import Callable
from dataclasses import dataclass

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.converging.revisions import InForce
from llmservice.errors import InvalidSpec
from llmservice.objects.references import Manifest
from llmservice.planning.facts import pinned_facts
from llmservice.planning.service_plan import ServicePlan

_Origin = tuple[int, str | None, str]
"""What a plan is made from: generation, facts that stand in the status for it, and what the replicas went back to."""


@dataclass(slots=True)
class PlanCache:
    """The plan that was made last, and what it was made from."""

    _origin: _Origin | None = None
    _plan: ServicePlan | None = None

    def of(self, force: InForce, make: Callable[[LLMService], ServicePlan]) -> ServicePlan | None:
        """The plan of the revision in force; None while the spec is one that only an edit can help."""
        origin = _origin(force)
        if self._origin != origin:
            self._origin, self._plan = origin, _made(force.body, make)
        return self._plan


def _made(body: Manifest, make: Callable[[LLMService], ServicePlan]) -> ServicePlan | None:
    try:
        return make(LLMService.parse(body))
    except InvalidSpec:
        return None


def _origin(force: InForce) -> _Origin:
    generation = int(force.body["metadata"].get("generation", 0))
    return generation, pinned_facts(force.body.get("status") or {}, generation), force.source
