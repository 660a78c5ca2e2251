"""One reconcile of an LLMService: observe → plan → render → diff → apply → summarize."""

import dataclasses
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.accelerator_in_use import accelerator_in_use
from llmservice.converging.additions import modified_condition
from llmservice.converging.changes import diff, is_creation
from llmservice.converging.conditions import Condition, condition_in
from llmservice.converging.image_volumes import check_image_volumes
from llmservice.converging.meanwhile import with_replicas_told
from llmservice.converging.observed import Observed
from llmservice.converging.patience import PATIENCE_SECONDS, holds_devices, seconds_of_patience_left
from llmservice.converging.pod_checks import diagnose
from llmservice.converging.progress import Progress, counted, progress_of
from llmservice.converging.pulling import pulling
from llmservice.converging.replicas import Replicas, replicas_to_state, stating
from llmservice.converging.revisions import InForce
from llmservice.converging.rollback import pods_judged, rollout_plan, source_in, with_sources_of
from llmservice.converging.rollout_step import Rollout
from llmservice.converging.running import plan_that_runs
from llmservice.converging.scaling_report import ScalingReport, report_in
from llmservice.converging.start_status import start_status
from llmservice.converging.startup_budget import seconds_to_warning
from llmservice.converging.startup_status import followed_pod, startup_status
from llmservice.converging.status import Situation, seconds_to_pass, stalled, summarize
from llmservice.converging.taken_names import name_conflict
from llmservice.converging.updates import made_by_newer, update_condition
from llmservice.converging.weights import Waiting, lost_weights, seconds_to_fetch
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec, ModelRefused, NameTaken, OwnerGone, Refused, Terminating, Unavailable
from llmservice.objects.references import Manifest, Ref, is_being_deleted, ref_of, uid_of
from llmservice.planning.known_model import KnownModel
from llmservice.planning.service_plan import Owner, ServicePlan
from llmservice.reconcilers.child_writer import ChildWriter, Written
from llmservice.reconcilers.downloads import Fetch, no_downloads
from llmservice.reconcilers.free_devices import FreeDevices
from llmservice.reconcilers.inspections import FAILED_SECONDS, Inspect, known_by, no_inspection
from llmservice.reconcilers.learned_starts import learned
from llmservice.reconcilers.node_life import NodeLife
from llmservice.reconcilers.observing import Observer
from llmservice.reconcilers.rollback import Rollbacks
from llmservice.reconcilers.rollouts import Rollouts
from llmservice.reconcilers.start_logs import StartLogs, StartReports
from llmservice.reconcilers.status_writer import StatusWriter
from llmservice.reconcilers.tending import Tending
from llmservice.reconcilers.workers import ServiceKey
from llmservice.rendering.manifests import render

log = logging.getLogger(__name__)

_STALLED_AGAIN_SECONDS = 20.0
_LEAVING_AGAIN_SECONDS = 5.0
_REFUSED_AGAIN_SECONDS = 5.0
"""Short, because this pass reads only caches and sends no request."""
_REPORTED_FAILURE_SECONDS = 30.0
"""A write that fails for longer is reported in the status; a webhook that is being replaced recovers sooner."""

STATUS_AFTER_SECONDS = 0.05
"""Created children are reported in a second pass, so that of many new resources all get their children first."""


class Planner(Protocol):
    """Decides the plan of a resource; raises `InvalidSpec`."""

    def __call__(self, service: LLMService, model: KnownModel | None = None, weights: str = "") -> ServicePlan:
        """The plan of a resource; the same generation is always planned from the same facts.

        `model` is what an inspection found, `weights` the path that a download answered.
        """
        ...

    def knows_model(self, service: LLMService) -> bool:
        """Whether a plan needs no inspection of the model."""
        ...

    def with_learned_start(self, service: LLMService, plan: ServicePlan) -> ServicePlan:
        """The plan with the startup budget that follows from all starts that were seen."""
        ...

    def next_choice(self, service: LLMService, plan: ServicePlan, why: str) -> ServicePlan | None:
        """The plan with the next alternative to its devices that works; None when there is none."""
        ...

    def newest(self, service: LLMService, plan: ServicePlan) -> ServicePlan | None:
        """The plan from the current facts; None when they are those of `plan`."""
        ...


@dataclass(slots=True, kw_only=True)
class LLMServiceReconciler:
    """Brings the cluster to the state that an LLMService declares, and writes its status.

    `cache` holds the newest body seen of each resource and of its children. `now` is the clock (UTC). `scaling`
    returns the autoscaler's report on a resource (by UID), None before its first evaluation. `inspect` looks at models
    that nobody knows. `fetch` downloads a model to its claim. `free` counts devices for rollouts; None where nodes and
    pods may not be read. `engine` returns the EngineProgressing condition of a resource (by UID) with this status.
    """

    cluster: Cluster
    cache: ObjectCache
    observer: Observer
    plan: Planner
    now: Callable[[], datetime]
    scaling: Callable[[str], ScalingReport | None] = lambda _: None
    engine: Callable[[str, Mapping[str, Any]], Condition | None] = lambda *_: None
    inspect: Inspect = no_inspection
    fetch: Fetch = no_downloads
    free: FreeDevices | None = None
    children: ChildWriter = field(init=False)
    status: StatusWriter = field(init=False)
    starts: StartLogs = field(init=False)
    rollbacks: Rollbacks = field(init=False)
    rollouts: Rollouts = field(init=False)
    node_life: NodeLife = field(init=False)
    tending: Tending = field(init=False)
    _failing_since: dict[ServiceKey, datetime] = field(default_factory=dict)
    _freed: dict[str, datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.children = ChildWriter(cluster=self.cluster, cache=self.cache)
        self.starts = StartLogs(self.cluster)
        self.rollbacks = Rollbacks(cluster=self.cluster, cache=self.cache, plan=self.plan)
        self.node_life = NodeLife(self.cluster, self.cache)
        self.tending = Tending(
            observer=self.observer, children=self.children, node_life=self.node_life, plan=self.plan, now=self.now
        )
        self.status = StatusWriter(cluster=self.cluster, cache=self.cache, now=self.now)
        self.rollouts = Rollouts(cluster=self.cluster, now=self.now, clock=time.monotonic, free=self.free)

    def forget(self, before: Manifest | None, after: Manifest | None) -> None:
        """Listener of the cache: forget a deleted resource."""
        if before is not None and before["kind"] == "LLMService" and (after is None or uid_of(after) != uid_of(before)):
            self.children.forget(uid_of(before))
            self.status.forget(uid_of(before))
            self.rollouts.forget(uid_of(before))
            self.tending.forget(uid_of(before))
            self._freed.pop(uid_of(before), None)

    async def __call__(self, key: ServiceKey) -> float | None:
        """One pass; returns the seconds until the next one where no watch event will trigger it."""
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
            self.forget(body, self.cache.get(Ref("LLMService", *key)))  # it may have been deleted meanwhile

    async def refused(self, key: ServiceKey, why: str) -> float | None:
        """Report that the operator lacks permission to list the children. Returns as a pass does."""
        body = self._body(key)
        if body is None:
            return None
        message = f"the operator may not list the children of this resource, {why}; restore its Role in this namespace"
        return await self._stall(body, Reason.REFUSED_BY_CLUSTER, message, _REFUSED_AGAIN_SECONDS, is_observed=False)

    def _body(self, key: ServiceKey) -> Manifest | None:
        """The newest body of a resource; None when it is deleted or being deleted."""
        body = self.cache.get(Ref("LLMService", *key))
        return None if body is None or is_being_deleted(body) else body

    async def _converge(self, body: Manifest) -> float | None:
        force = await self.rollbacks.in_force(body)
        try:
            service = LLMService.parse(force.body)
            model = None if self.plan.knows_model(service) else await self._inspected(service)
            if isinstance(model, float):
                message = f"{service.spec.model.uri} is inspected before a device is taken: wait"
                return await self._stall(body, Reason.INSPECTING, message, model, passes=True)
            plan = self.plan(service, model)
            weights = await self.fetch(service, plan, body)
            if isinstance(weights, Waiting):
                await self.tending(force, plan)
                return await self._wait(body, weights)
            if plan.cache is not None and weights != plan.cache.weights:
                plan = self.plan(service, model, weights)
            plan = learned(self.plan, service, plan, self.observer.workload(plan.owner))
        except ModelRefused as problem:
            return await self._stall(body, problem.reason, problem.message, FAILED_SECONDS)
        except InvalidSpec as problem:
            return await self._stall(body, problem.reason, problem.message)
        manifests = render(plan, replicas=None)
        try:
            return await self._settle(service, plan, force, manifests, asking=_was_in_conflict(body))
        except NameTaken as taken:
            log.info("%s/%s: %s", plan.owner.namespace, plan.owner.name, taken)
            return await self._settle(service, plan, force, manifests, asking=True)

    async def _wait(self, body: Manifest, weights: Waiting) -> float | None:
        """Report that the model's files are not on their claim yet, or that they are now."""
        again, said = weights.again_seconds, weights.message
        return await self._stall(body, weights.reason, said, again, passes=weights.passes, weights=weights)

    async def _inspected(self, service: LLMService) -> KnownModel | float:
        """What an inspection tells of the model, or the seconds until it is asked again; raises ModelRefused."""
        found = await self.inspect(service)
        return found.again_seconds if found.again_seconds is not None else known_by(found, service.spec.model)

    async def _settle(
        self, service: LLMService, plan: ServicePlan, force: InForce, manifests: tuple[Manifest, ...], *, asking: bool
    ) -> float | None:
        """Observe, write and report; with `asking` unknown names are read live before anything is created."""
        body = force.newest
        observed = await self.observer.observe(plan.owner, map(ref_of, manifests), asking=asking)
        if observed.taken:
            conflict = name_conflict(plan.owner, observed.taken)
            pause = _LEAVING_AGAIN_SECONDS if conflict.passes else _STALLED_AGAIN_SECONDS
            return await self._stall(body, Reason.NAME_CONFLICT, conflict.message, pause, passes=conflict.passes)
        workload = observed.children.get(_workload(plan))
        manifests = with_sources_of(force, plan, manifests, workload)
        replicas = _replicas(service, plan, workload)
        wanted, held = stating(manifests, replicas), frozenset({_workload(plan)} if made_by_newer(plan) else ())
        way = rollout_plan(force, plan)
        rollout = Rollout(manifests=wanted) if held else await self.rollouts.prepare(way, body, wanted, observed)
        changes = diff(rollout.manifests, observed, held | rollout.held)
        try:
            written = await self.children.write(plan.owner, changes, observed, replicas, is_new=_is_new(body))
            check_image_volumes(manifests, written.children.get(_workload(plan)))
        except Terminating:
            raise
        except Refused as refusal:
            message = f"the API server rejects a child: {refusal}"
            return await self._stall(body, Reason.REFUSED_BY_CLUSTER, message, _STALLED_AGAIN_SECONDS)
        except Unavailable as failure:
            if not self._is_lasting(plan.owner, failure):
                raise
            message = f"the API server fails to write a child: {failure}"
            return await self._stall(body, Reason.REFUSED_BY_CLUSTER, message, _STALLED_AGAIN_SECONDS)
        self._failing_since.pop((plan.owner.namespace, plan.owner.name), None)
        if is_creation(changes) and not written.contests:
            return STATUS_AFTER_SECONDS
        status, running = body.get("status") or {}, plan_that_runs(force, plan, workload, rollout, self.plan)
        await self.node_life.shield(running, observed, self.now())
        said = await self.starts.read(running, observed.pods, status, followed_pod(status, observed.pods))
        situation, now = (
            self._situation(service, running, force, written, observed, manifests, said, rollout),
            self.now(),
        )
        situation = situation if running is plan else self._waits(service, plan, situation)
        left = self._patience(plan, situation, now) if service.spec.gpu.alternatives else None
        if left == 0.0 and (following := self._next_choice(service, plan, situation)):
            held_back = await self.status.write(body, summarize(dataclasses.replace(situation, plan=following), now))
            return held_back or STATUS_AFTER_SECONDS
        judged, judged_again = self.rollbacks.judged(force, service, situation, observed, written, now)
        again = await self.status.write(body, summarize(dataclasses.replace(situation, revision=judged), now))
        pauses = (
            left,
            judged_again,
            observed.requeue_seconds,
            said.requeue_seconds,
            seconds_to_warning(running, observed.pods, now),
            written.requeue_seconds,
            rollout.requeue_seconds,
            again,
            seconds_to_pass(situation.diagnosis, now),
            seconds_to_fetch(situation.diagnosis),
        )
        return min(filter(None, pauses), default=None)

    def _patience(self, plan: ServicePlan, situation: Situation, now: datetime) -> float | None:
        """Seconds until other devices are tried; None while nothing waits for a node.

        None too after a rollback, and of replicas that run while the last change waits.
        """
        if situation.newest or (situation.revision and situation.revision.source):
            return None
        if holds_devices(situation.pods):
            self._freed[plan.owner.uid] = now
        return seconds_of_patience_left(situation.progress, situation.pods, now, self._freed.get(plan.owner.uid))

    def _waits(self, service: LLMService, newest: ServicePlan, situation: Situation) -> Situation:
        """The situation of replicas that run, with the plan of the change that waits beside theirs."""
        update = update_condition(newest, self.plan.newest(service, newest))
        return dataclasses.replace(situation, newest=newest, update=update, source=None)

    def _next_choice(self, service: LLMService, plan: ServicePlan, situation: Situation) -> ServicePlan | None:
        """The plan with other devices, because no node had these for a while."""
        said = situation.diagnosis.message if situation.diagnosis else "no node fits"
        following = self.plan.next_choice(service, plan, f"for {PATIENCE_SECONDS / 60:.0f} minutes {said}")
        if following is not None:
            owner, taken = plan.owner, f"{following.devices} × {following.accelerator}"
            log.info("%s/%s: takes %s in place of %s", owner.namespace, owner.name, taken, plan.accelerator)
        return following

    def _is_lasting(self, owner: Owner, failure: Unavailable) -> bool:
        """Whether the API server has failed the write for a while, for example because a webhook does not answer.

        An unreachable API server does not count: it could not store a status either.
        """
        if failure.reason != "InternalError":
            return False
        now = self.now()
        since = self._failing_since.setdefault((owner.namespace, owner.name), now)
        return (now - since).total_seconds() >= _REPORTED_FAILURE_SECONDS

    def _situation(
        self,
        service: LLMService,
        plan: ServicePlan,
        force: InForce,
        written: Written,
        observed: Observed,
        manifests: tuple[Manifest, ...],
        said: StartReports,
        rollout: Rollout,
    ) -> Situation:
        deployment = written.children.get(_workload(plan))
        before, body = observed.children.get(_workload(plan)), force.newest
        progress = progress_of(counted(before, deployment), observed.pods)
        judged = pods_judged(force, observed, progress)
        found = diagnose(plan, judged, deployment, ENGINES[plan.engine].log_patterns)
        return Situation(
            plan=plan,
            progress=progress,
            pods=observed.pods,
            diagnosis=lost_weights(plan, body.get("status") or {}, found, self.now()),
            suspended=service.spec.suspend,
            floor=_floor(service, plan, progress),
            before=body.get("status") or {},
            update=update_condition(plan, self.plan.newest(service, plan)),
            modified=modified_condition(written.children, manifests, written.contests),
            scaling=(self.scaling(plan.owner.uid) or report_in(body.get("status") or {})) if plan.scaling else None,
            accelerator=accelerator_in_use(plan, observed.pods, said.reports, plan.fit),
            engine=None if service.spec.suspend else self.engine(plan.owner.uid, body.get("status") or {}),
            start=start_status(observed.pods, said.reports, plan.fit) if plan.devices else None,
            startup=startup_status(plan, body.get("status") or {}, observed.pods, said.times),
            unread=said.unread,
            revision=force,
            source=source_in(force, plan, deployment),
            rollout=rollout,
            pulling=pulling(observed.pods, observed.preparations, body.get("status") or {}, self.now()),
        )

    async def _stall(
        self,
        body: Manifest,
        reason: str,
        message: str,
        again: float | None = None,
        *,
        is_observed: bool = True,
        passes: bool = False,
        weights: Waiting | None = None,
    ) -> float | None:
        """Report that reconciling is blocked until an edit, or by somebody else; or for a while when it `passes`.

        Returns `again`, the seconds until the next pass, or fewer. Without `is_observed` the pods are unknown.
        """
        metadata = body["metadata"]
        owner = Owner(
            namespace=metadata["namespace"],
            name=metadata["name"],
            uid=uid_of(body),
            generation=int(metadata.get("generation", 0)),
        )
        progress = progress_of(self.observer.workload(owner), self.observer.pods(owner)) if is_observed else None
        status = stalled(
            body.get("status") or {},
            owner.generation,
            Reason(reason),
            message.replace("\n", "; "),
            self.now(),
            progress=progress,
            passes=passes,
            weights=weights,
        )
        status = self._with_replicas_told(body, status, scales=weights is not None)
        return min(filter(None, (again, await self.status.write(body, status))), default=None)

    def _with_replicas_told(self, body: Manifest, status: dict[str, Any], *, scales: bool) -> dict[str, Any]:
        """The status of a service that is not reconciled, with what replicas that run do.

        What the autoscaler decides is told where it goes on (`scales`): nobody decides by a spec that is refused.
        """
        spec, before, uid = body.get("spec") or {}, body.get("status") or {}, uid_of(body)
        engine = None if spec.get("suspend") else self.engine(uid, before)
        scaling = self.scaling(uid) if scales and spec.get("autoscaling") else None
        return with_replicas_told(status, before, engine, scaling, self.now())


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
    """The least ready replicas of the declared state: the fixed number or the autoscaler's lower bound.

    Else one, or zero after an external scale to zero.
    """
    declared = service.spec.replicas if service.spec.replicas is not None else plan.minimum
    if declared is not None:
        return declared
    return 0 if progress.seen and progress.desired == 0 else 1


def _is_new(body: Manifest) -> bool:
    """Whether the resource has no status yet."""
    return int((body.get("status") or {}).get("observedGeneration", -1)) < 0


def _was_in_conflict(body: Manifest) -> bool:
    """Whether the last pass ended with a name conflict."""
    ready = condition_in(body.get("status") or {}, ConditionType.READY)
    return ready.get("reason") == Reason.NAME_CONFLICT
