"""Asks a short Job what a model is, once for all services of a namespace that ask for the same.

Nothing runs in the background: each pass of a service that waits looks on, at most once a second for each Job. What is
remembered is lost with the process; the Jobs stay for an hour, and tell a new one the same.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from llmservice.api.v1alpha1.model import Model
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cluster.cluster import Cluster
from llmservice.converging.diagnosis import sentence
from llmservice.converging.inspection_pods import (
    answer_of_pod,
    has_job_ended,
    is_as_asked,
    not_inspected,
    pod_of,
    why_no_answer,
)
from llmservice.errors import Conflict, ModelRefused, OperatorError, Refused, Terminating, Unavailable
from llmservice.fairness.fair_queue import FairQueue
from llmservice.models.inspection_answer import facts_in
from llmservice.models.inspection_failure import InspectionFailure
from llmservice.models.model_facts import ModelFacts
from llmservice.objects.names import OPERATOR
from llmservice.objects.references import Manifest, Ref, is_being_deleted, ref_of, uid_of
from llmservice.planning.facts import RegistrySettings
from llmservice.planning.inspection_refusal import is_definite, refusal_of
from llmservice.planning.known_model import KnownModel
from llmservice.rendering.inspection_job import InspectionSettings, inspection_job, is_inspectable
from llmservice.rendering.job_parts import KEPT_SECONDS
from llmservice.settings import Settings

log = logging.getLogger(__name__)

AGAIN_SECONDS = 1.0
FAILED_SECONDS = 120.0
"""How long a failure is remembered: who was refused for it is worth another pass after that."""
_LONGEST_FAILED_SECONDS = 900.0
"""What was refused again and again is looked at more seldom: a thousand such services must not run Jobs without end."""
_QUEUED_AGAIN_SECONDS = 2.0
_AT_ONCE = 8
_REMEMBERED_AT_MOST = 1024
_ABANDONED_SECONDS = 30.0
_JOB_NAME = "batch.kubernetes.io/job-name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """What is known of a model by looking at it: facts, or a failure with a name, or neither, and `note` says why.

    `again_seconds` is set while it is not known yet, and then nothing else is: ask again after so long. A note is empty
    where nobody wanted an inspection; a failure without facts and with a message of strangers is redacted already.
    """

    facts: ModelFacts | None = None
    failure: InspectionFailure | None = None
    again_seconds: float | None = None
    note: str = ""


Inspect = Callable[[LLMService], Awaitable[Inspected]]
"""Looks at the model of a service."""


async def no_inspection(_: LLMService) -> Inspected:
    """Looks at nothing."""
    return Inspected()


def known_by(found: Inspected, model: Model) -> KnownModel:
    """What an inspection tells, for planning; raises ModelRefused for what no engine would get past either."""
    if found.facts is not None:
        return KnownModel(found.facts, "inspection")
    if found.failure is None:
        return KnownModel(note=found.note)
    if refusal := refusal_of(found.failure, model):
        reason, message, field = refusal
        raise ModelRefused(reason, message, field=field)
    return KnownModel(note=f"nothing is known of the model: {found.failure.message}; {found.failure.remedy}")


def inspection_settings(settings: Settings) -> InspectionSettings:
    """The operator's settings as inspections take them."""
    image = settings.inspection_image if settings.inspection == "auto" else ""
    return InspectionSettings(image=image, seconds=settings.inspection_seconds)


@dataclass(frozen=True, slots=True)
class _Known:
    """An answer, and until when and for how many seconds it is remembered."""

    found: Inspected
    until: float
    seconds: float


@dataclass(slots=True)
class _Question:
    """One Job's: since when it is asked, when its turn came, and when it was last looked at or wanted.

    `problem` is why there is no Job, when its time is over.
    """

    asked_at: float
    wanted_at: float
    began_at: float | None = None
    looked_at: float = float("-inf")
    busy: bool = False
    problem: str = "its Job was deleted"

    def is_abandoned(self, now: float, seconds: float = _ABANDONED_SECONDS) -> bool:
        """Whether nobody has wanted the answer for so long."""
        return not self.busy and now - self.wanted_at > seconds


@dataclass(slots=True, kw_only=True)
class Inspections:
    """Runs inspections, few at once, and remembers what they tell. Namespaces take turns.

    `clock` is monotonic, in seconds.
    """

    cluster: Cluster
    registry: RegistrySettings
    settings: InspectionSettings
    clock: Callable[[], float] = time.monotonic
    _known: OrderedDict[Ref, _Known] = field(default_factory=OrderedDict)
    _questions: dict[Ref, _Question] = field(default_factory=dict)
    _queue: FairQueue[str, Ref] = field(default_factory=FairQueue)
    _swept_at: float = float("-inf")

    async def facts_of(self, service: LLMService) -> Inspected:
        """What a look at the model of a service tells, or that it is not known yet; waits for no Job.

        For services whose model nobody knows. Raises InvalidSpec for files that cannot be mounted, and what `Cluster`
        raises, but for refusals and failures of a webhook: without a Job the service runs without facts.
        """
        if not self.settings.image or service.spec.model.inspect == "Never" or not is_inspectable(service):
            return Inspected()
        job = inspection_job(service, self.registry, self.settings)
        ref, now = ref_of(job), self.clock()
        known = self._known.get(ref)
        if known is not None and now < known.until:
            self._known.move_to_end(ref)
            return known.found
        return await self._asked(job, ref, now)

    async def _asked(self, job: Manifest, ref: Ref, now: float) -> Inspected:
        question = self._question(ref, now)
        self._forget_abandoned(now)
        self._give_turns(now)
        if question.began_at is None:
            if now - question.asked_at < self.settings.seconds:
                return Inspected(again_seconds=_QUEUED_AGAIN_SECONDS)
            return self._end(ref, _note(f"its turn did not come within {self.settings.seconds} s"))
        if question.busy or now - question.looked_at < AGAIN_SECONDS / 2:
            return Inspected(again_seconds=AGAIN_SECONDS)
        question.busy, is_late = True, now - question.began_at >= self.settings.seconds
        try:
            found = await self._looked(job, is_late=is_late, lost=question.problem)
        except Terminating:
            raise
        except Refused as refusal:
            found = _note(f"the API server refuses it: {refusal}")
        except Unavailable as failure:
            # Of a webhook for Jobs that does not answer: it may be so for ever, and nothing else needs a Job.
            if failure.reason != "InternalError":
                raise
            found, question.problem = None, f"the API server fails: {failure}"
        finally:
            question.busy, question.looked_at = False, self.clock()
        return Inspected(again_seconds=AGAIN_SECONDS) if found is None else self._end(ref, found)

    async def _looked(self, job: Manifest, *, is_late: bool, lost: str) -> Inspected | None:
        """One look at a Job, which is created if there is none; None while it has no answer.

        `lost` says why there is none when its time is over.
        """
        ref = ref_of(job)
        live = await self.cluster.get(ref)
        if live is None or is_being_deleted(live):
            if is_late:
                return _note(lost)
            if live is None:
                await self._create(job)
            return None
        if not is_as_asked(live, job):
            return _note(f"{ref} is not the operator's and was left unchanged; delete it")
        pods = await self.cluster.list("Pod", ref.namespace, label_selector=f"{_JOB_NAME}={ref.name}")
        pod = pod_of(live, pods)
        if pod is not None and (text := answer_of_pod(pod)):
            return await self._answered(live, text)
        if is_late or has_job_ended(live) or (pod is not None and answer_of_pod(pod) is not None):
            return await self._given_up(live, pod, is_late=is_late)
        return None

    async def _create(self, job: Manifest) -> None:
        try:
            await self.cluster.post(job, manager=OPERATOR)
            log.info("%s: asks for the facts of a model", ref_of(job))
        except Conflict:
            log.debug("%s: somebody was quicker; it is looked at next", ref_of(job))

    async def _answered(self, job: Manifest, text: str) -> Inspected:
        result = facts_in(text)
        if isinstance(result, ModelFacts):
            return Inspected(facts=result)
        await self._remove(job)
        return Inspected(failure=replace(result, message=sentence(result.message)))

    async def _given_up(self, job: Manifest, pod: Manifest | None, *, is_late: bool) -> Inspected:
        about = job if pod is None else pod
        selector = f"involvedObject.uid={uid_of(about)}"
        events = await self.cluster.list("Event", ref_of(job).namespace, field_selector=selector)
        await self._remove(job)
        within = f"there was no answer within {self.settings.seconds} s: " if is_late else ""
        return _note(within + why_no_answer(pod, events))

    async def _remove(self, job: Manifest) -> None:
        """So that whoever asks later asks anew. It does not matter where it fails: the Job goes by itself."""
        try:
            await self.cluster.delete(ref_of(job), uid=uid_of(job))
        except OperatorError as problem:
            log.info("%s: not deleted: %s", ref_of(job), problem)

    def _question(self, ref: Ref, now: float) -> _Question:
        question = self._questions.get(ref)
        if question is not None and question.is_abandoned(now, self.settings.seconds + _ABANDONED_SECONDS):
            self._drop(ref)  # its time was over long ago: another one begins
            question = None
        if question is None:
            question = self._questions[ref] = _Question(asked_at=now, wanted_at=now)
            self._queue.add(ref.namespace, ref)
        question.wanted_at = now
        return question

    def _give_turns(self, now: float) -> None:
        while granted := self._queue.next(_AT_ONCE - self._queue.held):
            self._questions[granted[1]].began_at = now

    def _end(self, ref: Ref, found: Inspected) -> Inspected:
        self._drop(ref)
        seconds = self._seconds(ref, found)
        self._known[ref] = _Known(found, self.clock() + seconds, seconds)
        self._known.move_to_end(ref)
        while len(self._known) > _REMEMBERED_AT_MOST:
            self._known.popitem(last=False)
        return found

    def _seconds(self, ref: Ref, found: Inspected) -> float:
        """How long an answer is remembered; that a model is refused once more, twice as long as the last time."""
        if found.facts is not None:
            return KEPT_SECONDS
        before = self._known.get(ref)
        if before is None or found.failure is None or not is_definite(found.failure):
            return FAILED_SECONDS
        return min(_LONGEST_FAILED_SECONDS, 2 * before.seconds)

    def _drop(self, ref: Ref) -> None:
        question = self._questions.pop(ref, None)
        if question is None:
            return
        if question.began_at is None:
            self._queue.leave(ref.namespace, ref)
        else:
            self._queue.release(ref.namespace)

    def _forget_abandoned(self, now: float) -> None:
        """Services that were deleted, or edited, no longer ask: their turns are free for others."""
        if now - self._swept_at < AGAIN_SECONDS:
            return
        self._swept_at = now
        for ref, question in [*self._questions.items()]:
            if question.is_abandoned(now):
                self._drop(ref)


def _note(why: str) -> Inspected:
    return Inspected(note=not_inspected(why))
