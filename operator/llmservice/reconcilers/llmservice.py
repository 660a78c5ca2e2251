"""One reconcile of an LLMService: decide what is desired → observe → roll out and write → report."""

import dataclasses
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.conditions import condition_in
from llmservice.converging.meanwhile import with_replicas_told
from llmservice.converging.observed import Observed
from llmservice.converging.progress import progress_of
from llmservice.converging.readiness import seconds_to_pass
from llmservice.converging.running import plan_that_runs
from llmservice.converging.startup_budget import seconds_to_news
from llmservice.converging.startup_status import followed_pod
from llmservice.converging.status import summarize
from llmservice.converging.taken_names import name_conflict
from llmservice.converging.weights import seconds_to_fetch
from llmservice.errors import NameTaken, OwnerGone, Terminating
from llmservice.objects.names import OPERATOR
from llmservice.objects.references import Manifest, Ref, is_being_deleted, ref_of, uid_of
from llmservice.planning.service_plan import Owner
from llmservice.reconcilers.activation.sleepers import Sleepers
from llmservice.reconcilers.adapter_loading import AdapterLoading, no_loading
from llmservice.reconcilers.applying import Applied, Applying
from llmservice.reconcilers.applying import nothing_beside as no_others
from llmservice.reconcilers.blocked import BLOCKED_AGAIN_SECONDS, Blocked, status_while
from llmservice.reconcilers.child_writer import ChildWriter
from llmservice.reconcilers.desired import Deciding, Desired, Planner
from llmservice.reconcilers.downloads import Fetch, FetchBeside, no_downloads, nothing_beside
from llmservice.reconcilers.free_devices import FreeDevices
from llmservice.reconcilers.inspections import Inspect, no_inspection
from llmservice.reconcilers.node_life import NodeLife
from llmservice.reconcilers.noting import Noting
from llmservice.reconcilers.observing import Observer
from llmservice.reconcilers.other_devices import OtherDevices, next_choice
from llmservice.reconcilers.rollback import Rollbacks
from llmservice.reconcilers.rollouts import Rollouts
from llmservice.reconcilers.routing import Routing
from llmservice.reconcilers.situations import EngineCondition, Scaling, Situations
from llmservice.reconcilers.start_logs import StartLogs
from llmservice.reconcilers.status_writer import StatusWriter
from llmservice.reconcilers.tending import Tending
from llmservice.reconcilers.workers import ServiceKey

log = logging.getLogger(__name__)

_LEAVING_AGAIN_SECONDS = 5.0
_REFUSED_AGAIN_SECONDS = 5.0
"""Short, because this pass reads only caches and sends no request."""

STATUS_AFTER_SECONDS = 0.05
"""Created children are reported in a second pass, so that of many new resources all get their children first."""


@dataclass(slots=True, kw_only=True)
class LLMServiceReconciler:
    """Brings the cluster to the state that an LLMService declares, and writes its status.

    `cache` holds the newest body seen of each resource and of its children. `now` is the clock (UTC). `inspect` looks
    at models that nobody knows. `fetch` downloads a model to its claim, `fetch_beside` what is loaded beside it. `free`
    counts devices for rollouts; None where nodes and pods may not be read. `adapters` loads adapters into replicas that
    run. `sleepers` knows services that may have no replica; None where none may.
    """

    cluster: Cluster
    cache: ObjectCache
    observer: Observer
    plan: Planner
    now: Callable[[], datetime]
    scaling: Scaling = lambda _: None
    engine: EngineCondition = lambda *_: None
    inspect: Inspect = no_inspection
    fetch: Fetch = no_downloads
    fetch_beside: FetchBeside = nothing_beside
    free: FreeDevices | None = None
    adapters: AdapterLoading = field(default_factory=no_loading)
    sleepers: Sleepers | None = None
    children: ChildWriter = field(init=False)
    status: StatusWriter = field(init=False)
    starts: StartLogs = field(init=False)
    rollbacks: Rollbacks = field(init=False)
    rollouts: Rollouts = field(init=False)
    applying: Applying = field(init=False)
    node_life: NodeLife = field(init=False)
    tending: Tending = field(init=False)
    routing: Routing = field(init=False)
    other_devices: OtherDevices = field(default_factory=OtherDevices)
    noting: Noting = field(default_factory=Noting)

    def __post_init__(self) -> None:
        beside = self.sleepers.children if self.sleepers else no_others
        self.children = ChildWriter(cluster=self.cluster, cache=self.cache)
        self.starts = StartLogs(self.cluster)
        self.rollbacks = Rollbacks(cluster=self.cluster, cache=self.cache, plan=self.plan)
        self.node_life = NodeLife(self.cluster, self.cache)
        self.tending = Tending(
            observer=self.observer,
            children=self.children,
            node_life=self.node_life,
            plan=self.plan,
            now=self.now,
            beside=beside,
        )
        self.routing = Routing(cluster=self.cluster, cache=self.cache, now=self.now)
        self.status = StatusWriter(cluster=self.cluster, cache=self.cache, now=self.now)
        self.rollouts = Rollouts(cluster=self.cluster, now=self.now, clock=time.monotonic, free=self.free)
        self.applying = Applying(
            children=self.children, rollouts=self.rollouts, now=self.now, plan=self.plan, beside=beside
        )

    def forget(self, before: Manifest | None, after: Manifest | None) -> None:
        """Listener of the cache: forget a deleted resource."""
        if before is not None and before["kind"] == "LLMService" and (after is None or uid_of(after) != uid_of(before)):
            memories = (self.children, self.status, self.rollouts, self.applying, self.tending, self.other_devices)
            for memory in (*memories, self.noting, self.adapters, self.routing):
                memory.forget(uid_of(before))
            if self.sleepers is not None:
                self.sleepers.forget(uid_of(before))

    async def __call__(self, key: ServiceKey) -> float | None:
        """One pass; returns the seconds until the next one where no watch event will trigger it."""
        body = self._body(key)
        if body is None:
            return None
        with self._forgotten_if_gone(body):
            try:
                return await self._converge(body)
            except OwnerGone as gone:
                log.info("%s/%s: %s", *key, gone)
                self.cache.drop_uid(ref_of(body), uid_of(body))
                return None
            except Terminating as going:
                log.info("%s/%s: %s", *key, going)
                return None

    async def refused(self, key: ServiceKey, why: str) -> float | None:
        """Report that the operator lacks permission to list the children. Returns as a pass does."""
        body = self._body(key)
        if body is None:
            return None
        message = f"the operator may not list the children of this resource, {why}; restore its Role in this namespace"
        blocked = Blocked(Reason.REFUSED_BY_CLUSTER, message, _REFUSED_AGAIN_SECONDS)
        with self._forgotten_if_gone(body):
            return await self._report_blocked(body, blocked, is_observed=False)

    @contextmanager
    def _forgotten_if_gone(self, body: Manifest) -> Iterator[None]:
        """A pass over a resource: if that goes meanwhile, what the pass remembered of it after the news goes, too."""
        try:
            yield
        finally:
            self.forget(body, self.cache.get(ref_of(body)))

    def _body(self, key: ServiceKey) -> Manifest | None:
        """The newest body of a resource; None when it is deleted or being deleted."""
        body = self.cache.get(Ref("LLMService", *key))
        return None if body is None or is_being_deleted(body) else body

    async def _converge(self, body: Manifest) -> float | None:
        deciding = Deciding(
            plan=self.plan,
            inspect=self.inspect,
            fetch=self.fetch,
            fetch_beside=self.fetch_beside,
            tend=self.tending,
        )
        try:
            desired = await deciding.desired(await self.rollbacks.in_force(body))
            try:
                return await self._settle(desired, asking=_was_in_conflict(body))
            except NameTaken as taken:
                log.info("%s/%s: %s", desired.plan.owner.namespace, desired.plan.owner.name, taken)
                return await self._settle(desired, asking=True)
        except Blocked as blocked:
            return await self._report_blocked(body, blocked)

    async def _settle(self, desired: Desired, *, asking: bool) -> float | None:
        """Observe, write and report; with `asking` unknown names are read live before anything is created."""
        observed = await self._observe(desired, asking=asking)
        applied = await self.applying.apply(desired, observed)
        if applied.created:
            return STATUS_AFTER_SECONDS
        found, now = observed.children.get(desired.workload), self.now()
        pause = self.noting.pause(desired.body, found, applied.written.children.get(desired.workload), now)
        return pause or await self._report(desired, observed, applied)

    async def _observe(self, desired: Desired, *, asking: bool) -> Observed:
        """The observed state; raises `Blocked` where another owner has the name of a child."""
        owner = desired.plan.owner
        beside = self.sleepers.names(desired.plan) if self.sleepers else ()
        observed = await self.observer.observe(owner, (*map(ref_of, desired.manifests), *beside), asking=asking)
        if observed.taken:
            conflict = name_conflict(owner, observed.taken)
            again = _LEAVING_AGAIN_SECONDS if conflict.passes else BLOCKED_AGAIN_SECONDS
            raise Blocked(Reason.NAME_CONFLICT, conflict.message, again, passes=conflict.passes)
        return observed

    async def _report(self, desired: Desired, observed: Observed, applied: Applied) -> float | None:
        """Write the status: of other devices, of a revision that is given up, or of how far this one is."""
        body, status, workload = desired.body, desired.body.get("status") or {}, observed.children.get(desired.workload)
        running = plan_that_runs(desired.force, desired.plan, workload, applied.rollout, self.plan)
        await self.node_life.shield(running, observed, self.now())
        said = await self.starts.read(running, observed.pods, status, followed_pod(status, observed.pods))
        can_hold = self.sleepers is None or self.sleepers.can_hold()
        situations, now = (
            Situations(plan=self.plan, scaling=self.scaling, engine=self.engine, can_hold=can_hold),
            self.now(),
        )
        adapters = await self.adapters.settle(running, observed.updated)
        route = await self.routing.settle(desired.plan, observed.absent, status)
        situation = situations.of(desired, running, observed, applied, said, adapters, route, now)
        left = self.other_devices.patience(desired, situation, now)
        if left == 0.0 and (following := next_choice(self.plan, desired, situation)):
            held_back = await self.status.write(body, summarize(dataclasses.replace(situation, plan=following), now))
            return held_back or STATUS_AFTER_SECONDS
        judged, judged_again = self.rollbacks.judged(
            desired.force, desired.service, situation, observed, applied.written, now
        )
        pauses = (
            await self.status.write(body, summarize(dataclasses.replace(situation, revision=judged), now)),
            left,
            judged_again,
            observed.requeue_seconds,
            said.requeue_seconds,
            adapters.requeue_seconds,
            route.requeue_seconds,
            seconds_to_news(running, observed.pods, now),
            applied.written.requeue_seconds,
            applied.rollout.requeue_seconds,
            seconds_to_pass(situation.diagnosis, now),
            seconds_to_fetch(situation.diagnosis),
        )
        return min(filter(None, pauses), default=None)

    async def _report_blocked(self, body: Manifest, blocked: Blocked, *, is_observed: bool = True) -> float | None:
        """Write the status of a resource that cannot be reconciled. Without `is_observed` the pods are unknown."""
        metadata = body["metadata"]
        owner = Owner(
            namespace=metadata["namespace"],
            name=metadata["name"],
            uid=uid_of(body),
            generation=int(metadata.get("generation", 0)),
        )
        progress = progress_of(self.observer.workload(owner), self.observer.pods(owner)) if is_observed else None
        status = status_while(blocked, body, progress, self.now())
        status = self._with_replicas_told(body, status, scales=blocked.weights is not None)
        held_back = await self.status.write(body, status)
        if is_observed and not blocked.passes:
            await self._tell_who_holds(body, blocked.reason if blocked.again_seconds is None else "")
        return min(filter(None, (blocked.again_seconds, held_back)), default=None)

    async def _tell_who_holds(self, body: Manifest, trouble: str) -> None:
        """Keep the EndpointSlice to who takes requests, and have those refused whom nobody will answer."""
        patch = self.sleepers.while_refused(body, trouble) if self.sleepers else None
        if patch is not None:
            self.cache.put(await self.cluster.overwrite(patch, manager=OPERATOR), quietly=True)

    def _with_replicas_told(self, body: Manifest, status: dict[str, Any], *, scales: bool) -> dict[str, Any]:
        """The status of a service that is not reconciled, with what replicas that run do.

        What the autoscaler decides is told where it goes on (`scales`): nobody decides by a spec that is refused.
        """
        spec, before, uid = body.get("spec") or {}, body.get("status") or {}, uid_of(body)
        engine = None if spec.get("suspend") else self.engine(uid, before)
        scaling = self.scaling(uid) if scales and spec.get("autoscaling") else None
        return with_replicas_told(status, before, engine, scaling, self.now())


def _was_in_conflict(body: Manifest) -> bool:
    """Whether the last pass ended with a name conflict."""
    ready = condition_in(body.get("status") or {}, ConditionType.READY)
    return bool(ready.get("reason") == Reason.NAME_CONFLICT)
