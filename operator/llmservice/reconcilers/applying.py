"""Brings the desired children about: chooses how the change is rolled out, and writes what differs."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.autoscaling.schedules import bounds_at
from llmservice.converging.changes import Change, diff, is_creation
from llmservice.converging.image_volumes import check_image_volumes
from llmservice.converging.observed import Observed
from llmservice.converging.replicas import Replicas, replicas_to_state, stating
from llmservice.converging.rollback import MakePlan, rollout_plan, with_sources_of
from llmservice.converging.rollout_record import changes_template, replacing
from llmservice.converging.rollout_step import Rollout
from llmservice.converging.standing import children_of, standing
from llmservice.converging.template_source import made_from
from llmservice.converging.updates import made_by_newer
from llmservice.errors import Refused, Terminating, Unavailable
from llmservice.objects.references import Manifest, Ref
from llmservice.objects.workloads import workload_in
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.blocked import BLOCKED_AGAIN_SECONDS, Blocked
from llmservice.reconcilers.child_writer import ChildWriter, Written
from llmservice.reconcilers.desired import Desired
from llmservice.reconcilers.rollouts import Rollouts
from llmservice.reconcilers.workload_kind import check_workload

Beside = Callable[[ServicePlan, Manifest, Mapping[Ref, Manifest]], tuple[Manifest, ...]]
"""Children beside those that a plan renders, for a plan, its resource and the children there are."""

_REPORTED_FAILURE_SECONDS = 30.0
"""A write that fails for longer is reported in the status; a webhook that is being replaced recovers sooner."""


def nothing_beside(*_: object) -> tuple[Manifest, ...]:
    """No children beside those of the plan."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The children as they were wanted (`manifests`), how the change reaches the replicas, and what was written.

    `created`: all that was done was to make children that nobody contests.
    """

    manifests: tuple[Manifest, ...]
    rollout: Rollout
    written: Written
    created: bool


@dataclass(slots=True, kw_only=True)
class Applying:
    """Writes the children of resources. `now` is the clock (UTC), `plan` makes plans.

    `beside` are the children that follow from the cluster and not from the plan alone.
    """

    children: ChildWriter
    rollouts: Rollouts
    now: Callable[[], datetime]
    plan: MakePlan
    beside: Beside = nothing_beside
    _failing_since: dict[str, datetime] = field(default_factory=dict)

    def forget(self, uid: str) -> None:
        """Forget since when writes for a resource fail."""
        self._failing_since.pop(uid, None)

    async def apply(self, desired: Desired, observed: Observed) -> Applied:
        """Write what differs from the desired state.

        A Deployment of a newer operator stays as it is. Raises `Blocked`, and what `ChildWriter.write` raises but for
        refusals.
        """
        plan, workload = desired.plan, observed.children.get(desired.workload)
        check_workload(plan, observed)
        manifests = with_sources_of(desired.force, plan, desired.manifests, workload)
        replicas = wanted_replicas(desired.service, plan, workload, self.now())
        wanted = stating(manifests, replicas)
        if made_by_newer(plan):
            rollout, held = Rollout(manifests=wanted), frozenset({desired.workload})
        else:
            way = rollout_plan(desired.force, plan)
            rollout, held = await self.rollouts.prepare(way, desired.body, wanted, observed), frozenset()
        rollout = self._with_what_stands(desired, rollout, workload, replicas)
        children = (*rollout.manifests, *self.beside(plan, desired.body, observed.children))
        changes = diff(_usable(children, observed), observed, held | rollout.held)
        try:
            written = await self._write(desired, changes, observed, replicas)
            check_image_volumes(manifests, written.children.get(desired.workload))
        except Terminating:
            raise
        except Refused as refusal:
            raise _blocked(f"the API server rejects a child: {refusal}") from refusal
        self.forget(desired.plan.owner.uid)
        created = is_creation(changes) and not written.contests
        return Applied(manifests=manifests, rollout=rollout, written=written, created=created)

    def _with_what_stands(
        self, desired: Desired, rollout: Rollout, live: Manifest | None, replicas: Replicas
    ) -> Rollout:
        """The rollout; of a change that waits with the Deployment of what runs, which is repaired and scaled by it."""
        source, force = made_from(live), desired.force
        if not rollout.blocked or live is None or not source or source == force.source_with(desired.plan.facts):
            return rollout
        if (revision := standing(force, source, self.plan)) is None:
            return rollout
        stands = workload_in(children_of(revision, live, force.served.digest if force.served else "", replicas))
        if changes_template(live, stands):
            return rollout
        return dataclasses.replace(rollout, manifests=replacing(stands, rollout.manifests), held=frozenset())

    async def _write(
        self, desired: Desired, changes: tuple[Change, ...], observed: Observed, replicas: Replicas
    ) -> Written:
        owner, is_new = desired.plan.owner, _is_new(desired.body)
        try:
            return await self.children.write(owner, changes, observed, replicas, is_new=is_new)
        except Unavailable as failure:
            if not self._is_lasting(owner.uid, failure):
                raise
            raise _blocked(f"the API server fails to write a child: {failure}") from failure

    def _is_lasting(self, uid: str, failure: Unavailable) -> bool:
        """Whether the API server has failed the write for a while, for example because a webhook does not answer.

        An unreachable API server does not count: it could not store a status either.
        """
        if failure.reason != "InternalError":
            return False
        now = self.now()
        since = self._failing_since.setdefault(uid, now)
        return (now - since).total_seconds() >= _REPORTED_FAILURE_SECONDS


def _usable(manifests: Iterable[Manifest], observed: Observed) -> list[Manifest]:
    """Those of kinds that the cluster has."""
    return [manifest for manifest in manifests if manifest["kind"] not in observed.absent]


def _blocked(message: str) -> Blocked:
    return Blocked(Reason.REFUSED_BY_CLUSTER, message, BLOCKED_AGAIN_SECONDS)


def wanted_replicas(service: LLMService, plan: ServicePlan, deployment: Manifest | None, now: datetime) -> Replicas:
    """What the Deployment is to say of its replicas at `now`; `deployment` is as it stands.

    A service that may sleep begins with one replica: so its first failure is told, and its start is measured.
    """
    bounds = bounds_at(plan.scaling, now.timestamp()) if plan.scaling else None
    return replicas_to_state(
        fixed=service.spec.replicas,
        suspend=service.spec.suspend,
        minimum=max(1, bounds.minimum) if bounds and plan.minimum is not None else 1,
        maximum=bounds.maximum if bounds else None,
        deployment=deployment,
        scaled=plan.minimum is not None,
    )


def _is_new(body: Manifest) -> bool:
    """Whether the resource has no status yet."""
    return int((body.get("status") or {}).get("observedGeneration", -1)) < 0
