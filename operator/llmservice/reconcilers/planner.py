"""Planning from the current catalogue, with the pinned facts of a resource's generation."""

import dataclasses
from dataclasses import dataclass, field

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.checks import toleration_problems
from llmservice.converging.updates import made_by_newer
from llmservice.errors import InvalidSetting, InvalidSpec
from llmservice.planning.facts import Facts, RegistrySettings, choose_facts, facts_to_text, pinned_facts
from llmservice.planning.network import MetricsReaders
from llmservice.planning.plan import plan_service
from llmservice.planning.service_plan import ServicePlan
from llmservice.settings import PREFIX, Settings


@dataclass(slots=True)
class CataloguePlanner:
    """Plans resources from the current catalogue; plans of the same generation keep their facts.

    `catalogue` and `platform` are replaced by their watchers.
    """

    catalogue: Catalogue
    registry: RegistrySettings = field(default_factory=RegistrySettings)
    platform: str = ""
    readers: MetricsReaders = field(default_factory=MetricsReaders)

    def __call__(self, service: LLMService) -> ServicePlan:
        """The plan; raises `InvalidSpec`."""
        kept = pinned_facts(service.status, service.metadata.generation)
        plan = plan_service(service, self._facts(service, kept), self.readers)
        # Keep the text with the fields of a newer operator, which needs them when it comes back.
        return dataclasses.replace(plan, facts=kept) if kept and made_by_newer(plan) else plan

    def newest(self, service: LLMService, plan: ServicePlan) -> ServicePlan | None:
        """The plan from the current facts; None when they are those of `plan`, or the resource would be refused now."""
        try:
            facts = self._facts(service, None)
            return None if facts_to_text(facts) == plan.facts else plan_service(service, facts, self.readers)
        except InvalidSpec:
            return None

    def _facts(self, service: LLMService, kept: str | None) -> Facts:
        return choose_facts(service, self.catalogue, self.registry, self.platform, kept=kept)


def registry_settings(settings: Settings) -> RegistrySettings:
    """The operator's settings as planning takes them; raises InvalidSetting naming the variable."""
    for number, toleration in enumerate(settings.tolerations):
        if problems := toleration_problems(toleration):
            raise InvalidSetting(f"{PREFIX}TOLERATIONS[{number}]", problems[0])
    proxies = {
        "HTTPS_PROXY": settings.engine_https_proxy,
        "HTTP_PROXY": settings.engine_http_proxy,
        "NO_PROXY": settings.engine_no_proxy,
    }
    return RegistrySettings(
        mirrors=settings.image_mirrors,
        pull_secrets=settings.pull_secrets,
        hf_endpoint=settings.hf_endpoint,
        proxies={name: value for name, value in proxies.items() if value},
        tolerations=settings.tolerations,
    )
