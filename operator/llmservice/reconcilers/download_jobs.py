"""One look at the Job of a download: made, followed, and taken away where it failed."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.cluster.cluster import Cluster
from llmservice.converging.diagnosis import sentence
from llmservice.converging.events import event
from llmservice.converging.inspection_pods import has_job_ended
from llmservice.converging.weights import Waiting, is_lost
from llmservice.converging.weights_failures import pause_after, waiting_after
from llmservice.converging.weights_job import (
    address_of,
    asked_as,
    is_download_of,
    obstacle,
    pending_seconds,
    pods_of_job,
    result_of,
)
from llmservice.converging.weights_progress import Received, how_far, why_slow
from llmservice.errors import Conflict, OperatorError
from llmservice.models.download_answer import DownloadedModel
from llmservice.models.download_failure import DownloadFailure
from llmservice.models.sizes import in_gb
from llmservice.objects.names import OPERATOR
from llmservice.objects.references import Manifest, is_being_deleted, ref_of, uid_of
from llmservice.planning.cache_plan import CachePlan
from llmservice.reconcilers.download_turns import AGAIN_SECONDS, Download, DownloadTurns

log = logging.getLogger(__name__)

STOPPED_SECONDS = 20.0
_JOB_NAME = "batch.kubernetes.io/job-name"
_OBSTACLE_AFTER_SECONDS = 15.0
"""Until then a pod that does not run is one that starts."""
_STUCK_SECONDS = 120.0
"""A Job whose pod does not start for so long makes way for one that is asked for in another way."""
_SLOW_AGAIN_SECONDS = 900.0

Progress = Callable[[str], Awaitable[Received | None]]
"""Reads how far a download is from the pod at an address; None where that cannot be read."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One service's wish: the Job that would fulfil it, and the resource, for Events."""

    body: Manifest
    cache: CachePlan
    job: Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadJobs:
    """Looks at Jobs. `now` is the clock (UTC), `clock` is monotonic, in seconds."""

    cluster: Cluster
    turns: DownloadTurns
    progress: Progress
    now: Callable[[], datetime]
    clock: Callable[[], float]

    async def look(self, one: Download, asked: Asked) -> Waiting | DownloadedModel:
        """One look at the Job, which is created if there is none and it is its turn."""
        ref = ref_of(asked.job)
        live = await self.cluster.get(ref)
        if live is None:
            return await self._begun(one, asked)
        if is_being_deleted(live):
            return self.waits(one, asked, "start", f"{what(asked.cache)}: the Job before it ends")
        if not is_download_of(live, asked.job):
            return _foreign(asked.cache, str(ref))
        pods = pods_of_job(
            live, await self.cluster.list("Pod", ref.namespace, label_selector=f"{_JOB_NAME}={ref.name}")
        )
        if not pods and has_job_ended(live):
            return await self._again(one, asked, live)
        result = result_of(live, pods)
        if result is None:
            self.turns.adopt(ref)
            return await self._going_on(one, asked, live, pods)
        return await self._ended(one, asked, live, result)

    async def _begun(self, one: Download, asked: Asked) -> Waiting:
        ref, cache = ref_of(asked.job), asked.cache
        if not self.turns.has_turn(ref):
            running = f"{self.turns.at_once} at once (LLMSERVICE_DOWNLOADS_AT_ONCE)"
            return self.waits(one, asked, "turn", f"{what(cache)}: waits for its turn, as there are {running}")
        try:
            await self.cluster.post(asked.job, manager=OPERATOR)
            log.info("%s: downloads %s to claim %s", ref, cache.request.uri, cache.claim)
            await self._tell(asked, "Normal", Reason.DOWNLOADING, f"{what(cache)} by Job {ref.name}")
        except Conflict:
            log.debug("%s: somebody was quicker; it is looked at next", ref)
        return self.starts(one, asked)

    async def _going_on(self, one: Download, asked: Asked, job: Manifest, pods: list[Manifest]) -> Waiting:
        address = address_of(pods)
        if not address:
            return await self._starting(one, asked, job, pods)
        received, now = await self.progress(address), self.clock()
        if received is None:
            return self.waits(one, asked, "unread", f"{what(asked.cache)}; how far it is cannot be read from its pod")
        received = Received(received.done, received.expected or asked.cache.expected_bytes)
        one.pace.add(now, received.done)
        left, idle = one.pace.seconds_left(received), one.pace.idle_seconds(now)
        if slow := why_slow(received, idle, left):
            await self._tell_slow(one, asked, slow)
            if left is None or idle:
                return self.waits(one, asked, "slow", f"Downloading {asked.cache.request.uri}: {slow}", received)
        return self.waits(one, asked, "loading", f"Downloading {how_far(received, left)}", received)

    async def _starting(self, one: Download, asked: Asked, job: Manifest, pods: list[Manifest]) -> Waiting:
        """Nothing runs yet, or no more: after a while it says why, and gives way to who asks in another way."""
        seconds = pending_seconds(job, pods, self.now())
        if seconds >= _STUCK_SECONDS and asked_as(job) != asked_as(asked.job):
            await self.delete(job)
        if seconds < _OBSTACLE_AFTER_SECONDS:
            return self.starts(one, asked)
        about = pods[0] if pods else job
        selector = f"involvedObject.uid={uid_of(about)}"
        events = await self.cluster.list("Event", ref_of(job).namespace, field_selector=selector)
        return self.waits(one, asked, "obstacle", f"{what(asked.cache)}: {obstacle(pods, events)}")

    async def _ended(
        self, one: Download, asked: Asked, job: Manifest, result: DownloadedModel | DownloadFailure
    ) -> Waiting | DownloadedModel:
        """A success counts for everybody; a failure for those who ask in the same way, after a pause once more."""
        ref = ref_of(job)
        self.turns.release(ref)
        if isinstance(result, DownloadedModel) and not is_lost(asked.body.get("status") or {}):
            self.turns.drop(ref)
            return result
        way, is_new = asked_as(job), uid_of(job) != one.failed
        if isinstance(result, DownloadFailure) and is_new and way == asked_as(asked.job):
            one.failed, seconds = uid_of(job), pause_after(result, one.tried(way))
            log.info("%s: %s; tried again in %.0f s", ref, sentence(result), seconds)
            return one.fail(way, waiting_after(result, asked.cache, seconds), self.clock())
        return await self._again(one, asked, job)

    async def _again(self, one: Download, asked: Asked, job: Manifest) -> Waiting:
        """Take a Job away that tells nothing any more; a next one needs a second where all is on the claim."""
        self.turns.release(ref_of(job))
        await self.delete(job)
        return self.waits(one, asked, "start", f"{what(asked.cache)}: its Job is made again")

    def starts(self, one: Download, asked: Asked) -> Waiting:
        """What it says before anything is read of it."""
        return self.waits(one, asked, "start", f"{what(asked.cache)}: the pod of its Job starts")

    def waits(self, one: Download, asked: Asked, stage: str, message: str, received: Received | None = None) -> Waiting:
        """What the service says while its model is downloaded; the same until there is something to tell."""
        fraction = received.fraction if received is not None else 0.0
        return Waiting(
            reason=Reason.DOWNLOADING,
            message=one.telling.tell(stage, fraction, message),
            again_seconds=AGAIN_SECONDS,
            key=asked.cache.request.key,
        )

    async def _tell_slow(self, one: Download, asked: Asked, slow: str) -> None:
        if self.clock() - one.slow_told_at < _SLOW_AGAIN_SECONDS:
            return
        one.slow_told_at = self.clock()
        await self._tell(asked, "Warning", Reason.DOWNLOAD_SLOW, f"{what(asked.cache)} is slow: {slow}")

    async def _tell(self, asked: Asked, kind: str, reason: Reason, message: str) -> None:
        """A failure to write an Event is only logged: the status has the same message."""
        told = event(asked.body, kind=kind, reason=reason, message=message, now=self.now())
        try:
            await self.cluster.record(told)
        except OperatorError as error:
            log.warning("%s: event not written: %s", ref_of(told), error)

    async def delete(self, job: Manifest) -> None:
        """Delete exactly this Job, with its pods; what they loaded stays on the claim."""
        if not is_being_deleted(job):
            await self.cluster.delete(ref_of(job), uid=uid_of(job))


def what(cache: CachePlan) -> str:
    """What is downloaded, and to where."""
    size = f" ({in_gb(cache.expected_bytes)})" if cache.expected_bytes else ""
    return f"Downloading {cache.request.uri}{size} to claim {cache.claim}"


def _foreign(cache: CachePlan, job: str) -> Waiting:
    return stopped(cache, f"{job} is not the operator's and was left unchanged; delete it")


def stopped(cache: CachePlan, message: str) -> Waiting:
    """A download that only somebody else can set going."""
    return Waiting(
        reason=Reason.DOWNLOAD_FAILED,
        message=message,
        again_seconds=STOPPED_SECONDS,
        key=cache.request.key,
        passes=False,
    )
