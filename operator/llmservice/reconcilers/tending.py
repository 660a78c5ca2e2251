"""Looks after the replicas that run while their service waits for its model's files: that may take hours.

Nothing of the new revision is written. What somebody deleted or changed is repaired, the number of replicas follows the
spec, and pods that have started give their nodes free, all by the plan that the replicas were made from. Where those
are of a change that fails, the replicas go back to what served before it.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.changes import diff
from llmservice.converging.events import event
from llmservice.converging.observed import Observed
from llmservice.converging.progress import progress_until
from llmservice.converging.revisions import InForce
from llmservice.converging.rollback import MakePlan
from llmservice.converging.rollout_record import changes_template
from llmservice.converging.standing import Standing, children_of, standing
from llmservice.converging.template_source import made_from, served_source
from llmservice.errors import NotLeader, OperatorError, OwnerGone, Terminating
from llmservice.objects.references import Manifest, Ref, ref_of
from llmservice.objects.workloads import template_of, workload_in
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.announcing import tell
from llmservice.reconcilers.applying import Beside, nothing_beside, wanted_replicas
from llmservice.reconcilers.child_writer import ChildWriter
from llmservice.reconcilers.node_life import NodeLife
from llmservice.reconcilers.observing import Observer
from llmservice.reconcilers.rollback import verdict_on
from llmservice.rendering.manifests import render
from llmservice.rendering.workload import workload

log = logging.getLogger(__name__)

_EVERY_SECONDS = 15.0
"""A service that waits has a pass every few seconds; an edit is followed at once."""
_WAITED_SECONDS = 300.0
"""Who was not looked at for so long does not wait any more."""


@dataclass(frozen=True, slots=True)
class _Look:
    """The last look at a service: its generation, when, and what its replicas were made from."""

    generation: int
    at: datetime
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tending:
    """Tends one service at a time. `now` is the clock (UTC), `beside` as `Applying` has it."""

    observer: Observer
    children: ChildWriter
    node_life: NodeLife
    plan: MakePlan
    now: Callable[[], datetime]
    beside: Beside = nothing_beside
    _looks: dict[str, _Look] = field(default_factory=dict)

    def forget(self, uid: str) -> None:
        """Forget a deleted resource."""
        self._looks.pop(uid, None)

    async def __call__(self, force: InForce, newest: ServicePlan) -> None:
        """One look, unless the last one was a moment ago. What the API server refuses is tried in a later one."""
        live, now = self.observer.workload(newest.owner), self.now()
        before = self._looks.get(newest.owner.uid)
        if before and before.generation == newest.owner.generation and _age(before, now) < _EVERY_SECONDS:
            return
        source = made_from(live) if live is not None else before.source if before else ""
        self._remember(newest, _Look(newest.owner.generation, now, source), now)
        if not source or source == force.source_with(newest.facts) or not self._ran(live, newest):
            return
        try:
            if (revision := standing(force, source, self.plan)) is not None:
                await self._tend(revision, force, live)
        except (NotLeader, OwnerGone, Terminating):
            raise
        except OperatorError as problem:
            log.warning("%s: the replicas that run are not looked after: %s", ref_of(force.newest), problem)

    def _remember(self, plan: ServicePlan, look: _Look, now: datetime) -> None:
        """What a Deployment was made from is known until it is deleted; the resource does not say it any more."""
        for uid in [uid for uid, each in self._looks.items() if _age(each, now) > _WAITED_SECONDS]:
            del self._looks[uid]
        self._looks[plan.owner.uid] = look

    def _ran(self, live: Manifest | None, plan: ServicePlan) -> bool:
        """Whether there are replicas, or were until their Deployment was deleted."""
        return live is None or bool(self.observer.pods(plan.owner))

    async def _tend(self, revision: Standing, force: InForce, live: Manifest | None) -> None:
        owner = revision.plan.owner
        observed = await self.observer.observe(owner, map(ref_of, render(revision.plan, replicas=None)))
        revision = await self._without_failure(revision, force, live, observed)
        replicas = wanted_replicas(revision.service, revision.plan, live, self.now())
        wanted = children_of(revision, live, force.served.digest if force.served else "", replicas)
        wanted += self.beside(revision.plan, force.newest, observed.children)
        await self.children.write(
            owner, diff(wanted, observed, _held(revision, live, wanted)), observed, replicas, is_new=False
        )
        await self.node_life.shield(revision.plan, observed, self.now())

    async def _without_failure(
        self, revision: Standing, force: InForce, live: Manifest | None, observed: Observed
    ) -> Standing:
        """The revision; where it is a change that fails, the one that served before it, which is told."""
        before = self._served_before(revision, force, live)
        if before is None:
            return revision
        now, deadline = self.now(), revision.plan.rollout.progress_deadline_seconds
        progress = progress_until(live, observed.pods, deadline, now)
        verdict = verdict_on(revision.plan, progress, live, observed, now)
        if verdict.reason is None:
            return revision
        message = f"until the model is downloaded the replicas are again what served before: {verdict.message}"
        log.warning("%s: %s", ref_of(force.newest), message)
        later = self.now() + timedelta(microseconds=1)  # names are made of the time, and the download tells of itself
        told = event(force.newest, kind="Warning", reason=Reason.ROLLED_BACK, message=message, now=later)
        await tell(self.children.cluster, told)
        return before

    def _served_before(self, revision: Standing, force: InForce, live: Manifest | None) -> Standing | None:
        """What could be returned to: other pods that served; None without any."""
        served = force.served
        if live is None or served is None or revision.service.spec.rollout.on_failure == "Hold":
            return None
        before = standing(force, served_source(live, served.digest), self.plan)
        return None if before is None or _template(before.plan) == _template(revision.plan) else before


def _held(revision: Standing, live: Manifest | None, wanted: list[Manifest]) -> set[Ref]:
    """The Deployment, where what its pods are made from would make others today."""
    if live is None or made_from(live) != revision.source or not changes_template(live, workload_in(wanted)):
        return set()
    return {ref_of(live)}


def _template(plan: ServicePlan) -> Mapping[str, Any]:
    return template_of(workload(plan, replicas=None))


def _age(look: _Look, now: datetime) -> float:
    return abs((now - look.at).total_seconds())
