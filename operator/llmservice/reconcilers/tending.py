"""Looks after the replicas that run while their service waits for its model's files: that may take hours.

Nothing of the new revision is written. What somebody deleted or changed is repaired, the number of replicas follows the
spec, and pods that have started give their nodes free, all by the plan that the replicas were made from.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.converging.changes import diff
from llmservice.converging.replicas import stating
from llmservice.converging.revisions import InForce
from llmservice.converging.rollback import MakePlan
from llmservice.converging.rollout_record import changes_template, record_of, recorded, replacing
from llmservice.converging.running import as_it_runs
from llmservice.converging.template_source import made_from, with_sources
from llmservice.converging.updates import made_by_newer
from llmservice.errors import InvalidSpec, NotLeader, OperatorError, OwnerGone, Terminating
from llmservice.objects.references import Manifest, ref_of
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.applying import wanted_replicas
from llmservice.reconcilers.child_writer import ChildWriter
from llmservice.reconcilers.node_life import NodeLife
from llmservice.reconcilers.observing import Observer
from llmservice.rendering.manifests import render

log = logging.getLogger(__name__)

_EVERY_SECONDS = 15.0
"""A service that waits has a pass every few seconds; an edit is followed at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tending:
    """Tends one service at a time. `now` is the clock (UTC)."""

    observer: Observer
    children: ChildWriter
    node_life: NodeLife
    plan: MakePlan
    now: Callable[[], datetime]
    _tended: dict[str, tuple[int, datetime]] = field(default_factory=dict)

    def forget(self, uid: str) -> None:
        """Forget a deleted resource."""
        self._tended.pop(uid, None)

    async def __call__(self, force: InForce, newest: ServicePlan) -> None:
        """One look, unless the last one was a moment ago. What the API server refuses is tried in a later one."""
        live = self.observer.workload(newest.owner)
        if live is None or not self._is_due(newest):
            return
        running = self._running(force, live, newest)
        try:
            if running is not None:
                await self._tend(*running, force, live)
        except (NotLeader, OwnerGone, Terminating):
            raise
        except OperatorError as problem:
            log.warning("%s: the replicas that run are not looked after: %s", ref_of(force.newest), problem)

    def _is_due(self, plan: ServicePlan) -> bool:
        now, owner = self.now(), plan.owner
        generation, at = self._tended.get(owner.uid, (-1, now))
        if generation == owner.generation and abs((now - at).total_seconds()) < _EVERY_SECONDS:
            return False
        self._tended[owner.uid] = owner.generation, now
        return True

    def _running(self, force: InForce, live: Manifest, newest: ServicePlan) -> tuple[LLMService, ServicePlan] | None:
        """What runs, and its plan; None where nothing does that was made from something else and had its files."""
        body = as_it_runs(force, live, newest.facts)
        if body is None or not self.observer.pods(newest.owner):
            return None
        try:
            service = LLMService.parse(body)
            plan = self.plan(service)
        except InvalidSpec:
            return None
        lacks_files = plan.cache is not None and not plan.cache.weights
        return None if made_by_newer(plan) or lacks_files else (service, plan)

    async def _tend(self, service: LLMService, plan: ServicePlan, force: InForce, live: Manifest) -> None:
        rendered = render(plan, replicas=None)
        observed = await self.observer.observe(plan.owner, map(ref_of, rendered))
        replicas = wanted_replicas(service, plan, live)
        served = force.served.digest if force.served else ""
        wanted = _as_rolled_out(stating(with_sources(rendered, made_from(live), live, served), replicas), live)
        workload = next(each for each in wanted if each["kind"] == "Deployment")
        held = {ref_of(live)} if changes_template(live, workload) else set()
        await self.children.write(plan.owner, diff(wanted, observed, held), observed, replicas, is_new=False)
        await self.node_life.shield(plan, observed, self.now())


def _as_rolled_out(manifests: Sequence[Manifest], live: Manifest) -> Sequence[Manifest]:
    """The manifests with the way in which the template that runs is rolled out."""
    workload, record = next(each for each in manifests if each["kind"] == "Deployment"), record_of(live)
    return manifests if record is None else replacing(recorded(workload, record), manifests)
