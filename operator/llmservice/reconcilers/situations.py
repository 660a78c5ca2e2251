"""The situation of a resource after its children were written: everything that its status is composed from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from llmservice.autoscaling.schedules import bounds_at
from llmservice.converging.accelerator_in_use import accelerator_in_use
from llmservice.converging.additions import modified_condition
from llmservice.converging.conditions import Condition
from llmservice.converging.hopeless import is_hopeless
from llmservice.converging.observed import Observed
from llmservice.converging.pod_checks import diagnose
from llmservice.converging.progress import Progress, progress_until
from llmservice.converging.pulling import pulling
from llmservice.converging.rollback import pods_judged, source_in
from llmservice.converging.scaling_report import ScalingReport, report_in
from llmservice.converging.situation import Situation
from llmservice.converging.start_status import start_status
from llmservice.converging.startup_budget import overdue
from llmservice.converging.startup_status import startup_status
from llmservice.converging.updates import update_condition
from llmservice.converging.weights import lost_weights
from llmservice.engines.registry import ENGINES
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.adapter_loading import AdapterReport
from llmservice.reconcilers.applying import Applied
from llmservice.reconcilers.desired import Desired, Planner
from llmservice.reconcilers.routing import RouteReport
from llmservice.reconcilers.start_logs import StartReports

Scaling = Callable[[str], ScalingReport | None]
"""The autoscaler's report on a resource (by UID); None before its first evaluation."""
EngineCondition = Callable[[str, Mapping[str, Any]], Condition | None]
"""The EngineProgressing condition of a resource (by UID) with this status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situations:
    """Puts a situation together; `plan` knows the current facts. `can_hold`: an activator takes requests."""

    plan: Planner
    scaling: Scaling
    engine: EngineCondition
    can_hold: bool = True

    def of(
        self,
        desired: Desired,
        running: ServicePlan,
        observed: Observed,
        applied: Applied,
        said: StartReports,
        adapters: AdapterReport,
        route: RouteReport,
        now: datetime,
    ) -> Situation:
        """What is known after the writes; `running` is the plan of the replicas, `said` what their engines said."""
        spec, written, waits = desired.service.spec, applied.written, running is not desired.plan
        before, uid, pods = desired.body.get("status") or {}, running.owner.uid, observed.pods
        deployment = written.children.get(desired.workload)
        progress = progress_until(deployment, pods, running.rollout.progress_deadline_seconds, now)
        judged = pods_judged(desired.force, observed, progress)
        found = diagnose(running, judged, deployment, ENGINES[running.engine].log_patterns)
        found = found or overdue(running, judged.pods, now)
        return Situation(
            plan=running,
            newest=desired.plan if waits else None,
            progress=progress,
            pods=pods,
            diagnosis=lost_weights(running, before, found, now),
            suspended=spec.suspend,
            floor=_floor(spec.replicas, running, progress, now),
            before=before,
            update=update_condition(desired.plan, self.plan.newest(desired.service, desired.plan)),
            modified=modified_condition(written.children, applied.manifests, written.contests),
            scaling=(self.scaling(uid) or report_in(before)) if running.scaling else None,
            accelerator=accelerator_in_use(running, pods, said.reports, running.fit),
            engine=None if spec.suspend else self.engine(uid, before),
            start=start_status(pods, said.reports, running.fit) if running.devices else None,
            startup=startup_status(running, before, pods, said.times),
            unread=said.unread,
            revision=desired.force,
            source=None if waits else source_in(desired.force, running, deployment),
            rollout=applied.rollout,
            hopeless=is_hopeless(progress, observed.updated, found, before, running.owner.generation),
            adapters=adapters.replicas,
            can_hold=self.can_hold,
            route=route.condition,
            reached=route.status,
            pulling=pulling(pods, observed.preparations, before, now),
        )


def _floor(replicas: int | None, plan: ServicePlan, progress: Progress, now: datetime) -> int:
    """The least ready replicas of the declared state: the fixed number or the autoscaler's lower bound.

    A schedule lowers it, and does not raise it: when its hours begin, the service does what it did before. Else one, or
    zero after it went to sleep, or an external scale to zero.
    """
    if replicas is not None:
        return replicas
    if plan.scaling is not None and plan.minimum is not None:
        least = min(plan.minimum, bounds_at(plan.scaling, now.timestamp()).minimum)
        if least:
            return least
    return 0 if progress.seen and progress.desired == 0 else 1
