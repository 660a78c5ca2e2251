"""The claim that a model is downloaded to: found, or made once where the resource asks for one; never changed."""

import logging
from dataclasses import dataclass, replace

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cluster.cluster import Cluster
from llmservice.converging.diagnosis import sentence
from llmservice.converging.weights import Waiting
from llmservice.errors import Conflict, Refused, Terminating
from llmservice.objects.names import OPERATOR
from llmservice.objects.references import Manifest, Ref
from llmservice.planning.cache_plan import CachePlan
from llmservice.planning.claim_checks import claim_problems
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.claim import is_own_claim, owned_claim

log = logging.getLogger(__name__)

_AGAIN_SECONDS, _SOON_SECONDS = 20.0, 2.0


@dataclass(frozen=True, slots=True)
class Claims:
    """Looks for the claims of services, and makes those that services own."""

    cluster: Cluster

    async def usable(self, service: LLMService, plan: ServicePlan, cache: CachePlan) -> Manifest | Waiting:
        """The live claim, or why the model cannot be downloaded to it; raises what `Cluster` raises but refusals."""
        try:
            live = await self._live(service, plan, cache)
        except Terminating:
            raise
        except Refused as refusal:
            return _blocked(cache, Reason.REFUSED_BY_CLUSTER, f"the API server refuses the claim: {sentence(refusal)}")
        if isinstance(live, Waiting):
            return live
        for problem in claim_problems(live, plan):
            if problem.refuses:
                return _blocked(cache, problem.reason, problem.message)
        return live

    async def _live(self, service: LLMService, plan: ServicePlan, cache: CachePlan) -> Manifest | Waiting:
        namespace = service.metadata.namespace
        live = await self.cluster.get(Ref("PersistentVolumeClaim", namespace, cache.claim))
        if live is None and cache.owned is None:
            message = f"PersistentVolumeClaim {cache.claim} does not exist: create it in namespace {namespace}"
            return _blocked(
                cache, Reason.CLAIM_NOT_FOUND, f"{message}, or leave spec.model.cache.claim.name out to have one made"
            )
        if live is None:
            return await self._made(service, plan, cache)
        if cache.owned is not None and not is_own_claim(live, service):
            message = f"PersistentVolumeClaim {cache.claim} is there already and is not this service's: name it in"
            return _blocked(
                cache, Reason.NAME_CONFLICT, f"{message} spec.model.cache.claim.name to use it, or delete it"
            )
        return live

    async def _made(self, service: LLMService, plan: ServicePlan, cache: CachePlan) -> Manifest | Waiting:
        if cache.owned is None:
            raise ValueError(f"claim {cache.claim} is the user's own and is not made")
        claim = owned_claim(service, cache.claim, cache.owned)
        if problem := next((each for each in claim_problems(claim, plan) if each.refuses), None):
            # Once made it is never changed: with the next edit of the resource it would be wrong for ever.
            return _blocked(cache, problem.reason, f"the claim is not made: {problem.message} (spec.model.cache.claim)")
        try:
            live = await self.cluster.post(claim, manager=OPERATOR)
        except Conflict:  # made since it was looked for
            waiting = _blocked(cache, Reason.DOWNLOADING, f"claim {cache.claim} was made by somebody else: wait")
            return replace(waiting, again_seconds=_SOON_SECONDS, passes=True)
        log.info("%s/%s: claim for %s made", service.metadata.namespace, cache.claim, service.metadata.name)
        return live


def _blocked(cache: CachePlan, reason: Reason, message: str) -> Waiting:
    return Waiting(reason=reason, message=message, again_seconds=_AGAIN_SECONDS, key=cache.request.key, passes=False)
