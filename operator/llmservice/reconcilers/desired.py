"""The desired state of a resource: revision → inspection → plan → weights → rendered manifests."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.converging.revisions import InForce
from llmservice.converging.weights import Waiting
from llmservice.errors import InvalidSpec, ModelRefused
from llmservice.objects.references import Manifest, Ref
from llmservice.planning.known_model import KnownModel
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.blocked import Blocked
from llmservice.reconcilers.downloads import Fetch, FetchBeside
from llmservice.reconcilers.inspections import FAILED_SECONDS, Inspect, known_by
from llmservice.rendering.manifests import render


class Planner(Protocol):
    """Decides the plan of a resource; raises `InvalidSpec`."""

    def __call__(
        self,
        service: LLMService,
        model: KnownModel | None = None,
        weights: str = "",
        beside: Mapping[str, str] | None = None,
    ) -> ServicePlan:
        """The plan of a resource; the same generation is always planned from the same facts.

        `model` is what an inspection found, `weights` the path that a download answered, `beside` those of what is
        loaded beside the model, by the keys of their downloads.
        """
        ...

    def knows_model(self, service: LLMService) -> bool:
        """Whether a plan needs no inspection of the model."""
        ...

    def next_choice(self, service: LLMService, plan: ServicePlan, why: str) -> ServicePlan | None:
        """The plan with the next alternative to its devices that works; None when there is none."""
        ...

    def newest(self, service: LLMService, plan: ServicePlan) -> ServicePlan | None:
        """The plan from the current facts; None when they are those of `plan`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Desired:
    """The revision in force, its plan, and the children that follow from it: their replicas are not decided yet."""

    force: InForce
    service: LLMService
    plan: ServicePlan
    manifests: tuple[Manifest, ...]

    @property
    def body(self) -> Manifest:
        """The resource as the user wrote it."""
        return self.force.newest

    @property
    def workload(self) -> Ref:
        """The workload."""
        return Ref(self.plan.workload_kind, self.plan.owner.namespace, self.plan.owner.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """Finds the desired state.

    `tend` looks after the replicas that run while their service waits for its model's files.
    """

    plan: Planner
    inspect: Inspect
    fetch: Fetch
    fetch_beside: FetchBeside
    tend: Callable[[InForce, ServicePlan], Awaitable[None]]

    async def desired(self, force: InForce) -> Desired:
        """The desired state of the revision in force; raises `Blocked`."""
        try:
            service = LLMService.parse(force.body)
            model = await self._model(service)
            plan = await self._with_weights(force, service, self.plan(service, model), model)
            plan = await self._with_beside(force, service, plan, model)
        except ModelRefused as problem:
            raise Blocked(problem.reason, problem.message, FAILED_SECONDS) from problem
        except InvalidSpec as problem:
            raise Blocked(problem.reason, problem.message) from problem
        return Desired(force=force, service=service, plan=plan, manifests=render(plan, replicas=None))

    async def _model(self, service: LLMService) -> KnownModel | None:
        """What an inspection tells of the model; None where the plan needs none. Raises ModelRefused."""
        if self.plan.knows_model(service):
            return None
        found = await self.inspect(service)
        if found.again_seconds is not None:
            message = f"{service.spec.model.uri} is inspected before a device is taken: wait"
            raise Blocked(Reason.INSPECTING, message, found.again_seconds, passes=True)
        return known_by(found, service.spec.model)

    async def _with_weights(
        self, force: InForce, service: LLMService, plan: ServicePlan, model: KnownModel | None
    ) -> ServicePlan:
        """The plan with the path of the model's files on their claim, where it has one."""
        found = await self.fetch(service, plan, force.newest)
        if isinstance(found, Waiting):
            await self.tend(force, plan)
            raise Blocked(found.reason, found.message, found.again_seconds, passes=found.passes, weights=found)
        return plan if plan.cache is None or found == plan.cache.weights else self.plan(service, model, found)

    async def _with_beside(
        self, force: InForce, service: LLMService, plan: ServicePlan, model: KnownModel | None
    ) -> ServicePlan:
        """The plan with the paths of what is loaded beside the model, where it is downloaded to the same claim."""
        if plan.cache is None or not plan.cache.missing:
            return plan
        found = await self.fetch_beside(service, plan, force.newest)
        if isinstance(found, Waiting):
            await self.tend(force, plan)
            raise Blocked(found.reason, found.message, found.again_seconds, passes=found.passes, weights=found)
        return self.plan(service, model, plan.cache.weights, found)
