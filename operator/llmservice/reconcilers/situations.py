"""The situation of a resource after its children were written: everything that its status is composed from."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from llmservice.converging.accelerator_in_use import accelerator_in_use
from llmservice.converging.additions import modified_condition
from llmservice.converging.conditions import Condition
from llmservice.converging.observed import Observed
from llmservice.converging.pod_checks import diagnose
from llmservice.converging.progress import Progress, progress_of
from llmservice.converging.pulling import pulling
from llmservice.converging.rollback import pods_judged, source_in
from llmservice.converging.scaling_report import ScalingReport, report_in
from llmservice.converging.start_status import start_status
from llmservice.converging.startup_status import startup_status
from llmservice.converging.status import Situation
from llmservice.converging.updates import update_condition
from llmservice.converging.weights import lost_weights
from llmservice.engines.registry import ENGINES
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.applying import Applied
from llmservice.reconcilers.desired import Desired
from llmservice.reconcilers.start_logs import StartReports

Scaling = Callable[[str], ScalingReport | None]
"""The autoscaler's report on a resource (by UID); None before its first evaluation."""
EngineCondition = Callable[[str, Mapping[str, Any]], Condition | None]
"""The EngineProgressing condition of a resource (by UID) with this status."""


def situation_of(
    desired: Desired,
    observed: Observed,
    applied: Applied,
    said: StartReports,
    now: datetime,
    *,
    newest: ServicePlan | None,
    scaling: Scaling,
    engine: EngineCondition,
) -> Situation:
    """What is known after the writes; `said` is what its engines said, `newest` the plan from the current facts."""
    plan, spec, written = desired.plan, desired.service.spec, applied.written
    before, uid, pods = desired.body.get("status") or {}, plan.owner.uid, observed.pods
    deployment = written.children.get(desired.workload)
    progress = progress_of(deployment, pods)
    judged = pods_judged(desired.force, observed, progress)
    found = diagnose(plan, judged, deployment, ENGINES[plan.engine].log_patterns)
    return Situation(
        plan=plan,
        progress=progress,
        pods=pods,
        diagnosis=lost_weights(plan, before, found, now),
        suspended=spec.suspend,
        floor=_floor(desired, progress),
        before=before,
        update=update_condition(plan, newest),
        modified=modified_condition(written.children, applied.manifests, written.contests),
        scaling=(scaling(uid) or report_in(before)) if plan.scaling else None,
        accelerator=accelerator_in_use(plan, pods, said.reports, plan.fit),
        engine=None if spec.suspend else engine(uid, before),
        start=start_status(pods, said.reports, plan.fit) if plan.devices else None,
        startup=startup_status(plan, before, pods, said.times),
        unread=said.unread,
        revision=desired.force,
        source=source_in(desired.force, plan, deployment),
        rollout=applied.rollout,
        pulling=pulling(pods, observed.preparations, before, now),
    )


def _floor(desired: Desired, progress: Progress) -> int:
    """The least ready replicas of the declared state: the fixed number or the autoscaler's lower bound.

    Else one, or zero after an external scale to zero.
    """
    replicas = desired.service.spec.replicas
    declared = replicas if replicas is not None else desired.plan.minimum
    if declared is not None:
        return declared
    return 0 if progress.seen and progress.desired == 0 else 1
