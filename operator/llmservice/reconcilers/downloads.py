"""Downloads models to their claims, one Job for each model and claim, however many services wait for it.

Nothing runs in the background: each pass of a service that waits looks on, at most every few seconds for each Job. What
is remembered is lost with the process: the claim, the Job and the status tell a new one the same.
"""

import dataclasses
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cluster.cluster import Cluster
from llmservice.converging.diagnosis import sentence
from llmservice.converging.inspection_pods import has_job_ended
from llmservice.converging.weights import Waiting, complete, record_of, recorded, trusted
from llmservice.converging.weights_job import asked_as, is_operators
from llmservice.converging.weights_progress import Received
from llmservice.errors import OperatorError, Refused, Terminating, Unavailable
from llmservice.models.download_answer import DownloadedModel
from llmservice.objects.references import Manifest, ref_of, uid_of
from llmservice.planning.cache_plan import CachePlan
from llmservice.planning.claim_checks import claim_problems
from llmservice.planning.facts import RegistrySettings
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.claims import Claims
from llmservice.reconcilers.download_jobs import STOPPED_SECONDS, Asked, DownloadJobs, Progress, stopped
from llmservice.reconcilers.download_turns import AGAIN_SECONDS, DownloadTurns
from llmservice.rendering.download_job import DownloadSettings, download_job
from llmservice.settings import Settings

log = logging.getLogger(__name__)

_SOON_SECONDS = 0.05

Fetch = Callable[[LLMService, ServicePlan, Manifest], Awaitable[str | Waiting]]
"""The path of a model on its claim, or what a service waits for; with the plan and the body of the resource."""


FetchBeside = Callable[[LLMService, ServicePlan, Manifest], Awaitable[Mapping[str, str] | Waiting]]
"""The paths of what is loaded beside a model, by the keys of their downloads, or what a service waits for."""


async def no_downloads(service: LLMService, plan: ServicePlan, body: Manifest) -> str | Waiting:  # noqa: ARG001
    """Downloads nothing."""
    return "" if plan.cache is None or service.spec.suspend else _off(plan.cache)


async def nothing_beside(service: LLMService, plan: ServicePlan, body: Manifest) -> Mapping[str, str] | Waiting:  # noqa: ARG001
    """Downloads nothing."""
    return {} if plan.cache is None or service.spec.suspend else _off(plan.cache)


async def no_progress(_: str) -> Received | None:
    """Reads nothing."""
    return None


def download_settings(settings: Settings) -> DownloadSettings:
    """The operator's settings as downloads take them."""
    return DownloadSettings(
        image=settings.download_image, at_once=settings.downloads_at_once, bandwidth=settings.download_bandwidth
    )


@dataclass(slots=True, kw_only=True)
class Downloads:
    """Runs downloads, few at once, and tells how far they are. Namespaces take turns.

    `now` is the clock (UTC), `clock` is monotonic, in seconds.
    """

    cluster: Cluster
    registry: RegistrySettings
    settings: DownloadSettings
    progress: Progress = no_progress
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    clock: Callable[[], float] = time.monotonic
    claims: Claims = field(init=False)
    turns: DownloadTurns = field(init=False)
    jobs: DownloadJobs = field(init=False)

    def __post_init__(self) -> None:
        self.claims = Claims(self.cluster)
        self.turns = DownloadTurns(self.settings.at_once)
        self.jobs = DownloadJobs(
            cluster=self.cluster,
            turns=self.turns,
            progress=self.progress,
            now=self.now,
            clock=self.clock,
        )

    async def weights_of(self, service: LLMService, plan: ServicePlan, body: Manifest) -> str | Waiting:
        """The path of what the engine loads, relative to the root of the claim; or what the service waits for.

        A service whose plan has it already is answered from its status alone, and so is one that is suspended: empty
        where nothing is known. Raises InvalidSpec for files that cannot
        be mounted, and what `Cluster` raises, but for refusals.
        """
        cache = plan.cache
        if cache is None:
            return ""
        record = recorded(body.get("status") or {}, cache)
        path = "" if record is None else str(record["path"])
        known = path or trusted(body.get("status") or {}, cache)
        if service.spec.suspend or (known and known == cache.weights):
            return known
        claim = await self.claims.usable(service, plan, cache)
        if isinstance(claim, Waiting):
            return claim
        if record is not None and record.get("claimUid") == uid_of(claim):
            return path
        job = download_job(service, cache, self.registry, self.settings, plan.pod.tolerations)
        return await self._fetched(Asked(body, cache, job), claim, plan)

    async def beside_of(self, service: LLMService, plan: ServicePlan, body: Manifest) -> Mapping[str, str] | Waiting:
        """The paths of what is loaded beside the model, by the keys of their downloads; or what the service waits for.

        All of them are asked for at once. What is there already is found by a Job that ends in seconds.
        """
        cache = plan.cache
        if cache is None or service.spec.suspend:
            return {}
        if not self.settings.image:
            return _off(cache)
        found: dict[str, str] = {}
        waiting: list[Waiting] = []
        for request in cache.missing:
            one = dataclasses.replace(cache, request=request, expected_bytes=0, weights="")
            job = download_job(service, one, self.registry, self.settings, plan.pod.tolerations)
            result = await self._found(Asked(body, one, job))
            if isinstance(result, Waiting):
                waiting.append(result)
            else:
                found[request.key] = result.path
        return waiting[0] if waiting else found

    async def _fetched(self, asked: Asked, claim: Manifest, plan: ServicePlan) -> Waiting:
        """What a service waits for, or that its model is on the claim now."""
        if not self.settings.image:
            return _off(asked.cache)
        found = await self._found(asked)
        if isinstance(found, Waiting):
            return found
        note = "; ".join(problem.message for problem in claim_problems(claim, plan))
        return self._complete(asked.cache, record_of(asked.cache, uid_of(claim), found, self.now(), note))

    def _complete(self, cache: CachePlan, record: dict[str, Any]) -> Waiting:
        """Written once; then the next pass goes on."""
        return Waiting(
            reason=Reason.PROGRESSING,
            message=complete(record),
            again_seconds=_SOON_SECONDS,
            key=cache.request.key,
            record=record,
        )

    async def _found(self, asked: Asked) -> Waiting | DownloadedModel:
        ref, now = ref_of(asked.job), self.clock()
        one = self.turns.of(ref, now)
        await self._give_up_abandoned(now)
        if failure := one.failure_of(asked_as(asked.job), now):
            return failure
        if one.busy or now - one.looked_at < AGAIN_SECONDS / 2:
            return one.found or self.jobs.starts(one, asked)
        one.busy = True
        try:
            found: Waiting | DownloadedModel = await self.jobs.look(one, asked)
        except Terminating:
            raise
        except Refused as refusal:
            found = self._refused(asked, f"refuses the Job that downloads the model: {sentence(refusal)}")
        except Unavailable as problem:
            # Of a webhook for Jobs that does not answer: it may be so for ever, and the status must say it.
            if problem.reason != "InternalError":
                raise
            found = self._refused(asked, f"fails to make the Job that downloads the model: {sentence(problem)}")
        finally:
            one.busy, one.looked_at = False, self.clock()
        # Of a failure those who ask in another way hear nothing.
        one.found = found if isinstance(found, Waiting) and found.reason is Reason.DOWNLOADING else None
        return found

    async def _give_up_abandoned(self, now: float) -> None:
        """Services that were deleted, suspended or edited no longer ask: nobody wants the rest of these downloads."""
        for ref in self.turns.forget_abandoned(now):
            try:
                live = await self.cluster.get(ref)
                ended = live is None or not is_operators(live) or has_job_ended(live)
                if live is not None and not ended and not self.turns.is_wanted(ref):  # by somebody who came meanwhile
                    await self.jobs.delete(live)
            except OperatorError as problem:
                log.info("%s: nobody waits for it, and it is not deleted: %s", ref, problem)

    def _refused(self, asked: Asked, why: str) -> Waiting:
        self.turns.release(ref_of(asked.job))
        return Waiting(
            reason=Reason.REFUSED_BY_CLUSTER,
            message=f"the API server {why}",
            again_seconds=STOPPED_SECONDS,
            key=asked.cache.request.key,
            passes=False,
        )


def _off(cache: CachePlan) -> Waiting:
    message = "this operator downloads nothing: set LLMSERVICE_DOWNLOAD_IMAGE (downloads.enabled of the chart)"
    return stopped(cache, f"{message}, or leave spec.model.cache out")
