"""The plan of one service, made once for each generation and its facts."""

from collections.abc import Callable
from dataclasses import dataclass

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.errors import InvalidSpec
from llmservice.objects.references import Manifest
from llmservice.planning.facts import pinned_facts
from llmservice.planning.service_plan import ServicePlan

_Origin = tuple[int, str | None]
"""Generation, and the facts that stand in the status for it: what a plan is made from."""


@dataclass(slots=True)
class PlanCache:
    """The plan that was made last, and what it was made from."""

    _origin: _Origin | None = None
    _plan: ServicePlan | None = None

    def of(self, body: Manifest, make: Callable[[LLMService], ServicePlan]) -> ServicePlan | None:
        """The plan; None while the spec is one that only an edit can help."""
        origin = _origin(body)
        if self._origin != origin:
            self._origin, self._plan = origin, _made(body, make)
        return self._plan


def _made(body: Manifest, make: Callable[[LLMService], ServicePlan]) -> ServicePlan | None:
    try:
        return make(LLMService.parse(body))
    except InvalidSpec:
        return None


def _origin(body: Manifest) -> _Origin:
    generation = int(body["metadata"].get("generation", 0))
    return generation, pinned_facts(body.get("status") or {}, generation)
