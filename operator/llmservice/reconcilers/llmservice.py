"""One LLMService, once: observe → plan → render → diff → apply → summarize."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.additions import modified_condition
from llmservice.converging.changes import diff, is_creation
from llmservice.converging.conditions import condition_in
from llmservice.converging.observed import Observed
from llmservice.converging.pod_checks import diagnose
from llmservice.converging.progress import Progress, progress_of
from llmservice.converging.replicas import Replicas, replicas_to_state, stating
from llmservice.converging.scaling_report import ScalingReport, report_in
from llmservice.converging.status import Situation, seconds_to_pass, stalled, summarize
from llmservice.converging.taken_names import name_conflict
from llmservice.converging.updates import made_by_newer, update_condition
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec, NameTaken, OwnerGone, Refused, Terminating, Unavailable
from llmservice.objects.references import Manifest, Ref, is_being_deleted, ref_of, uid_of
from llmservice.planning.service_plan import Owner, ServicePlan
from llmservice.reconcilers.child_writer import ChildWriter, Written
from llmservice.reconcilers.observing import Observer
from llmservice.reconcilers.status_writer import StatusWriter
from llmservice.reconcilers.workers import ServiceKey
from llmservice.rendering.manifests import render

log = logging.getLogger(__name__)

_STALLED_AGAIN_SECONDS = 20.0
_LEAVING_AGAIN_SECONDS = 5.0
_REFUSED_AGAIN_SECONDS = 5.0
"""A look that asks nobody."""
_TOLD_FAILURE_SECONDS = 30.0
"""A write that failed for so long is told; a webhook that was just replaced answers sooner."""

TOLD_AFTER_SECONDS = 0.05
"""What has just begun is told a moment later: of many new resources, all get their children first."""


class Planner(Protocol):
    """Decides the plan of a resource; raises `InvalidSpec`."""

    def __call__(self, service: LLMService) -> ServicePlan:
        """The plan of a resource; the same generation is always planned from the same facts."""
        ...

    def newest(self, service: LLMService, plan: ServicePlan) -> ServicePlan | None:
        """The plan from today's facts; None when they are those of `plan`."""
        ...


@dataclass(slots=True, kw_only=True)
class LLMServiceReconciler:
    """Brings the cluster to what one LLMService asks for, and tells how far it is.

    `cache` holds the newest body seen of each resource and of its children. `now` is the clock (UTC). `scaling` is what
    the autoscaler tells of a resource (by UID), None while it has not looked.
    """

    cluster: Cluster
    cache: ObjectCache
    observer: Observer
    plan: Planner
    now: Callable[[], datetime]
    scaling: Callable[[str], ScalingReport | None] = lambda _: None
    children: ChildWriter = field(init=False)
    status: StatusWriter = field(init=False)
    _failing_since: dict[ServiceKey, datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.children = ChildWriter(cluster=self.cluster, cache=self.cache)
        self.status = StatusWriter(cluster=self.cluster, cache=self.cache, now=self.now)

    def forget(self, before: Manifest | None, after: Manifest | None) -> None:
        """What a cache tells: of a resource that is gone nothing is remembered."""
        if before is not None and before["kind"] == "LLMService" and (after is None or uid_of(after) != uid_of(before)):
            self.children.forget(uid_of(before))
            self.status.forget(uid_of(before))

    async def __call__(self, key: ServiceKey) -> float | None:
        """One pass; returns the seconds until the next look when nothing would announce the change."""
        body = self._body(key)
        if body is None:
            self._failing_since.pop(key, None)
            return None
        try:
            return await self._converge(body)
        except OwnerGone as gone:
            log.info("%s/%s: %s", *key, gone)
            self.cache.drop(Ref("LLMService", *key))
            return None
        except Terminating as going:
            log.info("%s/%s: %s", *key, going)
            return None
        finally:
            self.forget(body, self.cache.get(Ref("LLMService", *key)))  # it may have gone meanwhile

    async def refused(self, key: ServiceKey, why: str) -> float | None:
        """Tell that nothing can be done: what belongs to the resource may not be seen. Returns as a pass does."""
        body = self._body(key)
        if body is None:
            return None
        message = f"the operator may not list what belongs to it, {why}; give its Role in this namespace back"
        return await self._stall(body, Reason.REFUSED_BY_CLUSTER, message, _REFUSED_AGAIN_SECONDS, is_seen=False)

    def _body(self, key: ServiceKey) -> Manifest | None:
        """The newest body of a resource that is there to stay."""
        body = self.cache.get(Ref("LLMService", *key))
        return None if body is None or is_being_deleted(body) else body

    async def _converge(self, body: Manifest) -> float | None:
        try:
            service = LLMService.parse(body)
            plan = self.plan(service)
        except InvalidSpec as problem:
            return await self._stall(body, problem.reason, problem.message)
        manifests = render(plan, replicas=None)
        try:
            return await self._settle(service, plan, body, manifests, asking=_was_in_conflict(body))
        except NameTaken as taken:
            log.info("%s/%s: %s", plan.owner.namespace, plan.owner.name, taken)
            return await self._settle(service, plan, body, manifests, asking=True)

    async def _settle(
        self, service: LLMService, plan: ServicePlan, body: Manifest, manifests: tuple[Manifest, ...], *, asking: bool
    ) -> float | None:
        """Look, write and tell; `asking` whose the names are that the cache does not know, before anything is made."""
        observed = await self.observer.observe(plan.owner, map(ref_of, manifests), asking=asking)
        if observed.taken:
            conflict = name_conflict(plan.owner, observed.taken)
            pause = _LEAVING_AGAIN_SECONDS if conflict.passes else _STALLED_AGAIN_SECONDS
            return await self._stall(body, Reason.NAME_CONFLICT, conflict.message, pause, passes=conflict.passes)
        replicas = _replicas(service, plan, observed.children.get(_workload(plan)))
        held = {_workload(plan)} if made_by_newer(plan) else ()
        changes = diff(stating(manifests, replicas), observed, held)
        try:
            written = await self.children.write(plan.owner, changes, observed, replicas, is_new=_is_new(body))
        except Terminating:
            raise
        except Refused as refusal:
            told = f"the API server refuses a child: {refusal}"
            return await self._stall(body, Reason.REFUSED_BY_CLUSTER, told, _STALLED_AGAIN_SECONDS)
        except Unavailable as failure:
            if not self._is_lasting(plan.owner, failure):
                raise
            told = f"the API server fails to write a child: {failure}"
            return await self._stall(body, Reason.REFUSED_BY_CLUSTER, told, _STALLED_AGAIN_SECONDS)
        self._failing_since.pop((plan.owner.namespace, plan.owner.name), None)
        if is_creation(changes) and not written.contests:
            return TOLD_AFTER_SECONDS
        situation, now = self._situation(service, plan, body, written, observed, manifests), self.now()
        again = await self.status.write(body, summarize(situation, now))
        pauses = (
            observed.look_again_seconds,
            written.look_again_seconds,
            again,
            seconds_to_pass(situation.diagnosis, now),
        )
        return min(filter(None, pauses), default=None)

    def _is_lasting(self, owner: Owner, failure: Unavailable) -> bool:
        """Whether the API server has said for a while that it cannot do it, as when a webhook does not answer.

        One that cannot be reached takes no status either.
        """
        if failure.reason != "InternalError":
            return False
        now = self.now()
        since = self._failing_since.setdefault((owner.namespace, owner.name), now)
        return (now - since).total_seconds() >= _TOLD_FAILURE_SECONDS

    def _situation(
        self,
        service: LLMService,
        plan: ServicePlan,
        body: Manifest,
        written: Written,
        observed: Observed,
        manifests: tuple[Manifest, ...],
    ) -> Situation:
        deployment = written.children.get(_workload(plan))
        progress = progress_of(deployment, observed.pods)
        return Situation(
            plan=plan,
            progress=progress,
            pods=observed.pods,
            diagnosis=diagnose(plan, observed, deployment, ENGINES[plan.engine].log_patterns),
            suspended=service.spec.suspend,
            floor=_floor(service, plan, progress),
            before=body.get("status") or {},
            update=update_condition(plan, self.plan.newest(service, plan)),
            modified=modified_condition(written.children, manifests, written.contests),
            scaling=(self.scaling(plan.owner.uid) or report_in(body.get("status") or {})) if plan.scaling else None,
        )

    async def _stall(
        self,
        body: Manifest,
        reason: str,
        message: str,
        again: float | None = None,
        *,
        is_seen: bool = True,
        passes: bool = False,
    ) -> float | None:
        """Tell what only an edit, or somebody else, can help, unless it `passes` by itself.

        Returns `again`, the seconds until the next look, or fewer. Without `is_seen` nobody knows what runs.
        """
        metadata = body["metadata"]
        owner = Owner(
            namespace=metadata["namespace"],
            name=metadata["name"],
            uid=uid_of(body),
            generation=int(metadata.get("generation", 0)),
        )
        progress = progress_of(self.observer.workload(owner), self.observer.pods(owner)) if is_seen else None
        status = stalled(
            body.get("status") or {},
            owner.generation,
            Reason(reason),
            message.replace("\n", "; "),
            self.now(),
            progress=progress,
            passes=passes,
        )
        return min(filter(None, (again, await self.status.write(body, status))), default=None)


def _workload(plan: ServicePlan) -> Ref:
    return Ref("Deployment", plan.owner.namespace, plan.owner.name)


def _replicas(service: LLMService, plan: ServicePlan, deployment: Manifest | None) -> Replicas:
    return replicas_to_state(
        fixed=service.spec.replicas,
        suspend=service.spec.suspend,
        minimum=plan.minimum or 1,
        maximum=plan.scaling.maximum if plan.scaling else None,
        deployment=deployment,
    )


def _floor(service: LLMService, plan: ServicePlan, progress: Progress) -> int:
    """Replicas below which the declared state is not reached: the fixed number or the autoscaler's lower bound.

    Else one, unless somebody scaled to zero.
    """
    declared = service.spec.replicas if service.spec.replicas is not None else plan.minimum
    if declared is not None:
        return declared
    return 0 if progress.seen and progress.desired == 0 else 1


def _is_new(body: Manifest) -> bool:
    """Whether nothing was told of the resource yet."""
    return int((body.get("status") or {}).get("observedGeneration", -1)) < 0


def _was_in_conflict(body: Manifest) -> bool:
    """Whether a name it needs was somebody else's when it was looked at last."""
    ready = condition_in(body.get("status") or {}, ConditionType.READY)
    return ready.get("reason") == Reason.NAME_CONFLICT
