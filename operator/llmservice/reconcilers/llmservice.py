"""One LLMService, once: observe → plan → render → diff → apply → summarize."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cluster.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.cluster.failures import Terminating
from llmservice.converging.changes import Change, Delete, diff, is_creation
from llmservice.converging.diagnosis import diagnose
from llmservice.converging.events import transition_event
from llmservice.converging.observed import Observed
from llmservice.converging.progress import Progress, progress_of
from llmservice.converging.references import Manifest, Ref, is_being_deleted, ref_of, uid_of
from llmservice.converging.replicas import OPERATOR, Replicas, replicas_to_state, stating
from llmservice.converging.scaling_report import ScalingReport, report_in
from llmservice.converging.status import Situation, seconds_to_pass, stalled, summarize
from llmservice.converging.updates import made_by_newer, update_condition
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec, OperatorError, Refused, Unavailable
from llmservice.planning.service_plan import Owner, ServicePlan
from llmservice.reconcilers.observing import Observer, OwnerGone
from llmservice.reconcilers.workers import ServiceKey
from llmservice.rendering.manifests import render

log = logging.getLogger(__name__)

_STALLED_AGAIN_SECONDS = 20.0
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
    _failing_since: dict[ServiceKey, datetime] = field(default_factory=dict)

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

    async def refused(self, key: ServiceKey, why: str) -> float | None:
        """Tell that nothing can be done: what belongs to the resource may not be seen. Returns as a pass does."""
        body = self._body(key)
        if body is None:
            return None
        message = f"the operator may not list what belongs to it, {why}; give its Role in this namespace back"
        await self._stall(body, Reason.REFUSED_BY_CLUSTER, message, is_seen=False)
        return _REFUSED_AGAIN_SECONDS

    def _body(self, key: ServiceKey) -> Manifest | None:
        """The newest body of a resource that is there to stay."""
        body = self.cache.get(Ref("LLMService", *key))
        return None if body is None or is_being_deleted(body) else body

    async def _converge(self, body: Manifest) -> float | None:
        try:
            service = LLMService.parse(body)
            plan = self.plan(service)
        except InvalidSpec as problem:
            await self._stall(body, problem.reason, problem.message)
            return None
        manifests = render(plan, replicas=None)
        observed = await self.observer.observe(plan.owner, map(ref_of, manifests))
        if observed.taken:
            await self._stall(body, Reason.NAME_CONFLICT, _conflict(observed))
            return _STALLED_AGAIN_SECONDS
        replicas = _replicas(service, plan, observed.children.get(_workload(plan)))
        try:
            held = {_workload(plan)} if made_by_newer(plan) else ()
            changes = diff(stating(manifests, replicas), observed, held)
            children = await self._apply(changes, observed, replicas)
        except Terminating:
            raise
        except Refused as refusal:
            await self._stall(body, Reason.REFUSED_BY_CLUSTER, f"the API server refuses a child: {refusal}")
            return _STALLED_AGAIN_SECONDS
        except Unavailable as failure:
            if not self._is_lasting(plan.owner, failure):
                raise
            await self._stall(body, Reason.REFUSED_BY_CLUSTER, f"the API server fails to write a child: {failure}")
            return _STALLED_AGAIN_SECONDS
        self._failing_since.pop((plan.owner.namespace, plan.owner.name), None)
        if is_creation(changes):
            return TOLD_AFTER_SECONDS
        situation, now = self._situation(service, plan, body, children, observed), self.now()
        await self._report(body, summarize(situation, now))
        pauses = (observed.look_again_seconds, seconds_to_pass(situation.trouble, now))
        return min(filter(None, pauses), default=None)

    async def _apply(self, changes: tuple[Change, ...], observed: Observed, replicas: Replicas) -> dict[Ref, Manifest]:
        """Write in order; returns the children as they are now."""
        children = dict(observed.children)
        for change in changes:
            if isinstance(change, Delete):
                await self.cluster.delete(change.ref, uid=change.uid)
                children.pop(change.ref, None)
                continue
            before = children.get(change.ref)
            live = await self._write(_guarded(change.manifest, before, replicas), exists=before is not None)
            log.info("%s: %s", change.ref, change.why)
            self.cache.put(live, quietly=True)
            children[change.ref] = live
        return children

    def _is_lasting(self, owner: Owner, failure: Unavailable) -> bool:
        """Whether the API server has said for a while that it cannot do it, as when a webhook does not answer.

        One that cannot be reached takes no status either.
        """
        if failure.reason != "InternalError":
            return False
        now = self.now()
        since = self._failing_since.setdefault((owner.namespace, owner.name), now)
        return (now - since).total_seconds() >= _TOLD_FAILURE_SECONDS

    async def _write(self, manifest: Manifest, *, exists: bool) -> Manifest:
        """Apply; where foreign list elements contradict ours and the API server refuses both together, ours win."""
        try:
            return await self.cluster.apply(manifest, manager=OPERATOR)
        except Refused:
            if not exists:
                raise
            return await self.cluster.overwrite(manifest, manager=OPERATOR)

    def _situation(
        self,
        service: LLMService,
        plan: ServicePlan,
        body: Manifest,
        children: Mapping[Ref, Manifest],
        observed: Observed,
    ) -> Situation:
        deployment = children.get(_workload(plan))
        progress = progress_of(deployment, observed.pods)
        return Situation(
            plan=plan,
            progress=progress,
            pods=observed.pods,
            trouble=diagnose(plan, observed, deployment, ENGINES[plan.engine].signatures),
            suspended=service.spec.suspend,
            floor=_floor(service, plan, progress),
            before=body.get("status") or {},
            update=update_condition(plan, self.plan.newest(service, plan)),
            scaling=(self.scaling(plan.owner.uid) or report_in(body.get("status") or {})) if plan.scaling else None,
        )

    async def _stall(self, body: Manifest, reason: str, message: str, *, is_seen: bool = True) -> None:
        """Tell what only an edit, or somebody else, can help; without `is_seen` nobody knows what runs."""
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
        )
        await self._report(body, status)

    async def _report(self, body: Manifest, status: dict[str, Any]) -> None:
        """Write the status when it differs, and the event when it is a transition."""
        before = body.get("status") or {}
        if status == before:
            return
        metadata = {key: body["metadata"][key] for key in ("namespace", "name", "uid")}
        intent = {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": metadata, "status": status}
        live = await self.cluster.apply_status(intent, manager=OPERATOR)
        if live is None:
            return
        self.cache.put(live)
        event = transition_event(live, before, status, self.now())
        if event is not None:
            await self._record(event)

    async def _record(self, event: Manifest) -> None:
        """An event that cannot be written is told in the log: the status says the same."""
        try:
            await self.cluster.record(event)
        except Terminating:
            return
        except OperatorError as error:
            log.warning("%s: event not written: %s", ref_of(event), error)


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


def _guarded(manifest: Manifest, live: Manifest | None, replicas: Replicas) -> Manifest:
    """An intent that repeats live replicas must not overwrite newer ones: it is bound to the version they came from."""
    if live is None or not replicas.live or manifest["kind"] != "Deployment":
        return manifest
    metadata = {**manifest["metadata"], "resourceVersion": live["metadata"]["resourceVersion"]}
    return {**manifest, "metadata": metadata}


def _conflict(observed: Observed) -> str:
    names = ", ".join(f"{ref.kind} {ref.name}" for ref in sorted(observed.taken))
    return f"{names} exists and belongs to somebody else; nothing was touched: rename this LLMService, or remove it"
