"""Planning from the current catalogue, with the pinned facts of a resource's generation."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.accelerator import Accelerator
from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.checks import toleration_problems
from llmservice.converging.updates import made_by_newer
from llmservice.errors import InvalidSetting, InvalidSpec
from llmservice.planning.choosing import first_that_works, told
from llmservice.planning.device_support import types_that_take
from llmservice.planning.facts import (
    Facts,
    RegistrySettings,
    choose_facts,
    facts_from_text,
    facts_to_text,
    inspected_before,
    pinned_facts,
    update_of,
    with_beside,
    with_weights,
)
from llmservice.planning.known_model import KnownModel, known_model
from llmservice.planning.network import MetricsReaders
from llmservice.planning.plan import plan_service
from llmservice.planning.scaling import check_activator
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.current_plans import CurrentPlans
from llmservice.settings import PREFIX, Settings


@dataclass(slots=True)
class CataloguePlanner:
    """Plans resources from the current catalogue; plans of the same generation keep their facts.

    `catalogue` and `platform` are replaced by their watchers. Without an `activator` no service may have zero replicas.
    """

    catalogue: Catalogue
    registry: RegistrySettings = field(default_factory=RegistrySettings)
    platform: str = ""
    readers: MetricsReaders = field(default_factory=MetricsReaders)
    activator: bool = True
    _current: CurrentPlans = field(default_factory=CurrentPlans)

    def __call__(
        self,
        service: LLMService,
        model: KnownModel | None = None,
        weights: str = "",
        beside: Mapping[str, str] | None = None,
    ) -> ServicePlan:
        """The plan; raises `InvalidSpec`. `model` is what an inspection found, where nothing else is known.

        `weights` is the path that a download answered, `beside` are those of what is loaded beside the model; they are
        kept with the generation, so that later plans have them.
        """
        check_activator(service.spec, installed=self.activator)
        kept = pinned_facts(service.status, service.metadata.generation)
        if kept is None or (facts := self._facts(service, kept)) is not facts_from_text(kept):
            known = self._known(service)
            model = known if model is None or known.source != "nothing" else model
            return self._new(service, model, weights=weights, beside=beside)
        facts = with_beside(with_weights(facts, weights), beside or {})
        plan = plan_service(service, facts, self.readers, accepted=True)
        # Keep the text with the fields of a newer operator, which needs them when it comes back.
        return dataclasses.replace(plan, facts=kept) if made_by_newer(plan) else plan

    def knows_model(self, service: LLMService) -> bool:
        """Whether a plan needs no inspection: its facts are kept, or the model is known already."""
        kept = facts_from_text(pinned_facts(service.status, service.metadata.generation) or "")
        if kept is not None and kept.update == update_of(service):
            return True
        return self._known(service).source != "nothing"

    def newest(self, service: LLMService, plan: ServicePlan) -> ServicePlan | None:
        """The plan from the current facts; None when they are those of `plan`, or the resource would be refused now.

        What an inspection found, and the alternative that was taken, stay as they are.
        """
        basis = (self.catalogue, self.registry, self.platform)
        if self._current.has(plan, basis):
            return None
        try:
            facts = self._as_before(service, facts_from_text(plan.facts))
            if facts_to_text(facts) != plan.facts:
                return plan_service(service, facts, self.readers)
        except InvalidSpec:
            pass
        self._current.add(plan, basis)
        return None

    def next_choice(self, service: LLMService, plan: ServicePlan, why: str) -> ServicePlan | None:
        """The plan with the next alternative to its devices that works; None when there is none.

        `why` says what kept the devices of `plan` from being used. What a newer operator made stays as it is.
        """
        before = facts_from_text(plan.facts)
        if before is None or before.choice >= len(service.spec.gpu.alternatives) or made_by_newer(plan):
            return None
        passed_over = (*before.passed_over, told(service.spec.gpu, before.choice, why))
        try:
            model = self._model(service, before)
            return self._new(
                service, model, before.choice + 1, passed_over, weights=before.weights, beside=before.beside
            )
        except InvalidSpec:
            return None

    def _new(
        self,
        service: LLMService,
        model: KnownModel | None,
        start: int = 0,
        passed_over: tuple[str, ...] = (),
        *,
        weights: str = "",
        beside: Mapping[str, str] | None = None,
    ) -> ServicePlan:
        """The first choice of devices that works, from the current catalogue."""

        def plan_of(choice: int, passed: tuple[str, ...]) -> ServicePlan:
            facts = self._facts(service, model=model, choice=choice, passed_over=passed)
            facts = with_beside(with_weights(facts, weights), beside or {})
            return plan_service(service, facts, self.readers, others=self._types(service, facts))

        return first_that_works(service.spec.gpu, plan_of, start, passed_over)

    def _facts(
        self,
        service: LLMService,
        kept: str | None = None,
        *,
        model: KnownModel | None = None,
        choice: int = 0,
        passed_over: tuple[str, ...] = (),
    ) -> Facts:
        return choose_facts(
            service,
            self.catalogue,
            self.registry,
            self.platform,
            kept=kept,
            model=model,
            choice=choice,
            passed_over=passed_over,
        )

    def _as_before(self, service: LLMService, before: Facts | None) -> Facts:
        """The current facts, with the model that was inspected and the alternative that was taken.

        What was learned of starts since then waits for the next edit, and is no reason for one.
        """
        if before is None:
            return self._facts(service)
        model = self._model(service, before)
        facts = self._facts(service, model=model, choice=before.choice, passed_over=before.passed_over)
        facts = dataclasses.replace(facts, slowest_start=before.slowest_start, beside=before.beside)
        return with_weights(facts, before.weights)

    def _known(self, service: LLMService) -> KnownModel:
        """What resource or catalogue know, else what was found when the same model was inspected."""
        known = known_model(service.spec, self.catalogue)
        return known if known.source != "nothing" else inspected_before(service) or known

    def _model(self, service: LLMService, before: Facts) -> KnownModel:
        """What resource and catalogue know now, else what an inspection found."""
        known = known_model(service.spec, self.catalogue)
        return known if known.source != "nothing" else KnownModel(before.model, before.model_source, before.model_note)

    def _types(self, service: LLMService, facts: Facts) -> Iterable[Accelerator]:
        """Types that a remedy may name, looked for only when one is needed."""
        version = self.catalogue.engine_version(facts.version.engine, facts.version.version)
        return types_that_take(service.spec, version, self.catalogue.accelerators.values(), facts.model.quantization)


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
