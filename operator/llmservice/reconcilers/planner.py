"""Planning with a catalogue: which facts go into a plan, and how long they stay."""

from dataclasses import dataclass, field

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.catalogue import Catalogue
from llmservice.planning.facts import RegistrySettings, choose_facts
from llmservice.planning.plan import plan_service
from llmservice.planning.service_plan import ServicePlan


@dataclass(slots=True)
class CataloguePlanner:
    """Plans resources from one catalogue; a plan of the same generation keeps the facts it was made from."""

    catalogue: Catalogue
    registry: RegistrySettings = field(default_factory=RegistrySettings)
    platform: str = ""

    def __call__(self, service: LLMService) -> ServicePlan:
        """The plan; raises `InvalidSpec`."""
        facts = choose_facts(service, self.catalogue, self.registry, self.platform, kept=_kept(service))
        return plan_service(service, facts)


def _kept(service: LLMService) -> str | None:
    """The facts of this generation's plan, so that a newer catalogue never changes a running pod template."""
    plan = service.status.get("plan") or {}
    return plan.get("facts") if plan.get("generation") == service.metadata.generation else None
