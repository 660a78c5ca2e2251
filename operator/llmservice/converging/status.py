"""The status of one LLMService: one function composes it, from values only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.accelerator_in_use import blocks_ready
from llmservice.converging.conditions import Condition, condition_in, conditions_to_write
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.fits import fits_condition, refused_for_size
from llmservice.converging.progress import Progress, rolled_out, waiting_for
from llmservice.converging.redaction import redacted_arguments
from llmservice.converging.revisions import InForce
from llmservice.converging.rollback_status import given_up, returned, returning, revisions_status, waiting_status
from llmservice.converging.rollout_step import Rollout
from llmservice.converging.scaling_report import ScalingReport
from llmservice.converging.startup_budget import how_to_wait
from llmservice.converging.updates import made_by_newer
from llmservice.converging.weights import (
    Waiting,
    kept_record,
    kept_weights,
    weights_condition,
    weights_condition_while,
)
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.pods import stays_on
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan

Status = Mapping[str, Any]

_IDLE = frozenset({Reason.ACCELERATOR_NOT_USED, Reason.ACCELERATOR_PARTLY_USED})
"""Why replicas that serve are not Ready: no time helps."""
_EMPTIED = frozenset({Reason.SUSPENDED, Reason.SCALED_TO_ZERO})
"""Why nothing serves where nothing is to serve."""
_OF_REPLICAS = (ConditionType.ACCELERATOR_IN_USE, ConditionType.SCALING_ACTIVE)
"""What is told of replicas that run, whatever is decided about the next ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the status is composed from.

    `plan` is that of the replicas, `newest` that of the last change while it waits. `floor` is the least number of
    ready replicas that the spec requires; `before` is the status as it stands, `update` the UpdateAvailable condition,
    `modified` the ChildrenModified one. `scaling` is the autoscaler's report; None when nothing is scaled, or nothing
    was decided yet. `accelerator` is the AcceleratorInUse condition, `engine` the EngineProgressing one, `start` what
    stands in `status.start`, `startup` what stands in `status.startup`; each None where nothing is known. `unread`: no
    log was read of what starts, and one will be at once. `rollout` is how a change reaches the replicas, `pulling` what
    nodes pull, where that is all that is waited for.
    """

    plan: ServicePlan
    progress: Progress
    pods: Sequence[Manifest]
    diagnosis: Diagnosis | None
    suspended: bool
    floor: int
    before: Status
    update: Condition | None = None
    modified: Condition | None = None
    scaling: ScalingReport | None = None
    accelerator: Condition | None = None
    engine: Condition | None = None
    start: Status | None = None
    startup: Status | None = None
    unread: bool = False
    revision: InForce | None = None
    source: str | None = None
    rollout: Rollout | None = None
    pulling: str = ""
    newest: ServicePlan | None = None


def summarize(situation: Situation, now: datetime) -> dict[str, Any]:
    """The status of a resource whose plan is in force.

    | pods                               | Ready                    | Available | Reconciling | Stalled |
    |------------------------------------|--------------------------|-----------|-------------|---------|
    | zero wanted, none left             | True, Suspended or …     | False     | absent      | absent  |
    | rolled out at the floor            | True                     | True      | absent      | absent  |
    | the same, a child is contested     | True, Contested          | True      | absent      | absent  |
    | the same, devices are not used     | False, Accelerator…      | True      | absent      | True    |
    | the same, log to be read at once   | False, Starting          | True      | True        | absent  |
    | the same, the last change waits    | True, RolloutBlocked     | True      | True        | absent  |
    | not yet rolled out                 | False, diagnosis or wait | if ready  | True        | absent  |
    | not yet, past deadline, needs edit | False, diagnosis         | if ready  | absent      | True    |
    | was rolled out, below the floor    | False, diagnosis or wait | if ready  | absent      | absent  |
    | rolled back                        | True, RolledBack         | True      | absent      | True    |
    | going back, or back and not ready  | False, diagnosis or wait | if ready  | absent      | True    |
    """
    plan, before = situation.plan, situation.before
    conditions = _conditions(situation, now)
    revisions = revisions_status(situation.revision, _rolled_out(situation, conditions))
    rollout = {**_rollout(situation), **waiting_status(situation.newest), **revisions}
    facts = {
        **_counts(situation),
        **_addresses(plan),
        "plan": before["plan"] if _is_kept(situation) else _plan(plan, situation.revision),
        **({"start": situation.start} if situation.start else {}),
        **kept_weights(situation.newest or plan, before),
        **({"rollout": rollout} if rollout else {}),
        **({"startup": situation.startup} if situation.startup else {}),
        **({"autoscaling": situation.scaling.as_status()} if situation.scaling else {}),
    }
    return _composed(before, plan.owner.generation, conditions, facts, now)


def seconds_to_pass(diagnosis: Diagnosis | None, now: datetime) -> float:
    """Seconds for which a diagnosis still counts as part of a normal start; 0 afterwards, or when it never is.

    Until then the reason is Starting, which makes no Event; the message names the cause from the beginning.
    """
    if diagnosis is None or not diagnosis.since:
        return 0.0
    age = (now - datetime.fromisoformat(diagnosis.since)).total_seconds()
    return diagnosis.startup_grace_seconds - age if 0 <= age < diagnosis.startup_grace_seconds else 0.0


def stalled(
    before: Status,
    generation: int,
    reason: Reason,
    message: str,
    now: datetime,
    *,
    progress: Progress | None,
    passes: bool = False,
    weights: Waiting | None = None,
) -> dict[str, Any]:
    """The status of a resource that cannot be reconciled: running replicas keep running and their plan stays.

    A cause that `passes` by itself is Reconciling instead of Stalled, and what is said of replicas and scaling stays
    too. Without `progress` the counts stay as they were. `weights` is what the resource waits for, where it does.
    """
    kind = ConditionType.RECONCILING if passes else ConditionType.STALLED
    ready = int(before.get("readyReplicas", 0)) if progress is None else progress.ready
    conditions = [
        Condition(type=ConditionType.READY, status=False, reason=reason, message=message),
        _availability(ready, reason, message),
        Condition(type=kind, status=True, reason=reason, message=message),
        *refused_for_size(reason, message),
    ]
    if condition_in(before, ConditionType.SCALING_ACTIVE) and not passes:
        conditions.append(Condition(type=ConditionType.SCALING_ACTIVE, status=False, reason=reason, message=message))
    facts = {**before, **({} if progress is None else _replica_counts(progress))}
    if weights is not None:
        conditions.append(weights_condition_while(weights))
        facts = {**{name: facts[name] for name in facts if name != "weights"}, **kept_record(before, weights)}
    status = _composed(before, generation, conditions, facts, now)
    kept = [condition for kind in _OF_REPLICAS if passes and (condition := condition_in(before, kind))]
    return {**status, "conditions": [*status["conditions"], *kept]}


def _composed(
    before: Status, generation: int, conditions: Sequence[Condition], facts: Status, now: datetime
) -> dict[str, Any]:
    """The status: these facts, and the conditions of this generation with the times of those that stay as they were."""
    written = conditions_to_write(conditions, before.get("conditions") or (), generation, now)
    return {**facts, "observedGeneration": generation, "conditions": written}


def _is_kept(situation: Situation) -> bool:
    """Whether the plan in the status describes what runs: a newer operator wrote it, or the last change waits."""
    return (made_by_newer(situation.plan) or situation.newest is not None) and "plan" in situation.before


def _conditions(situation: Situation, now: datetime) -> list[Condition]:
    scaling = situation.scaling.conditions if situation.scaling else ()
    said = (
        fits_condition(situation.plan.fit),
        situation.accelerator,
        situation.engine,
        weights_condition(situation.newest or situation.plan, situation.before, situation.diagnosis),
        situation.update,
        situation.modified,
    )
    beside = [condition for condition in said if condition]
    return [*_progress(situation, now), *beside, *scaling]


def _progress(situation: Situation, now: datetime) -> list[Condition]:
    progress, diagnosis = situation.progress, situation.diagnosis
    ready, reason, message = _readiness(situation, now)
    conditions = [
        Condition(type=ConditionType.READY, status=ready, reason=reason, message=message),
        _availability(progress.ready, reason, message),
    ]
    revision = situation.revision
    if revision and revision.failed and not (ready and reason in _EMPTIED):
        return [*conditions, given_up(revision, revision.failed)]
    waiting = situation.rollout.conditions if situation.rollout else []
    if waiting or ready or _was_rolled_out(situation):
        return [*conditions, *waiting]
    if reason in _IDLE or (progress.late and diagnosis is not None and not diagnosis.self_healing):
        return [*conditions, Condition(type=ConditionType.STALLED, status=True, reason=reason, message=message)]
    return [*conditions, Condition(type=ConditionType.RECONCILING, status=True, reason=reason, message=message)]


def _readiness(situation: Situation, now: datetime) -> tuple[bool, Reason, str]:
    progress, contest = situation.progress, _contest(situation)
    if situation.suspended:
        return _emptied(situation, Reason.SUSPENDED, "suspended; set spec.suspend to false to serve again")
    if progress.seen and progress.desired == 0 and situation.floor == 0:
        return _emptied(situation, Reason.SCALED_TO_ZERO, "scaled to zero; raise the replicas to serve again")
    if rolled_out(progress, situation.floor):
        return _served(situation, contest)
    return _not_rolled_out(situation, contest, now)


def _not_rolled_out(situation: Situation, contest: str, now: datetime) -> tuple[bool, Reason, str]:
    revision, diagnosis = situation.revision, situation.diagnosis
    if revision is not None and revision.failed:
        return returning(revision, situation.progress, situation.pods, diagnosis)
    if diagnosis is not None:
        passing = seconds_to_pass(diagnosis, now) > 0
        return False, Reason.STARTING if passing else diagnosis.reason, diagnosis.message
    if contest:
        return False, Reason.CONTESTED, contest
    return (False, *_waiting(situation, now))


def _waiting(situation: Situation, now: datetime) -> tuple[Reason, str]:
    """Of a workload of which nothing is wrong: what it waits for."""
    progress, pulls = situation.progress, situation.pulling
    if pulls:
        return Reason.PULLING, f"{progress.ready} of {progress.desired} replicas ready; {pulls}: wait"
    then = how_to_wait(situation.plan, situation.pods, {"startup": situation.startup}, now)
    return waiting_for(progress, situation.pods, then)


def _served(situation: Situation, contest: str) -> tuple[bool, Reason, str]:
    """Of a workload that is rolled out: ready, unless its engines leave their devices idle."""
    plan, progress, accelerator = situation.plan, situation.progress, situation.accelerator
    if accelerator is not None and blocks_ready(accelerator, verify=plan.verify_devices):
        return False, accelerator.reason, accelerator.message
    message = f"{progress.ready} of {progress.desired} replicas serve {', '.join(plan.names)} at {url_of(plan)}"
    if situation.revision is not None and situation.revision.failed:
        return returned(situation.revision, message)
    if accelerator is not None and situation.unread and plan.verify_devices and not _was_rolled_out(situation):
        return False, Reason.STARTING, accelerator.message
    if situation.rollout and situation.rollout.blocked:
        return True, Reason.ROLLOUT_BLOCKED, f"{message}; the last change waits: {situation.rollout.message}"
    return (True, Reason.CONTESTED, f"{message}; {contest}") if contest else (True, Reason.READY, message)


def _rollout(situation: Situation) -> Status:
    """How a change reaches the replicas, until it has; empty where there is nothing to tell."""
    rollout, progress = situation.rollout, situation.progress
    if rollout is None or situation.suspended or not progress.desired:
        return {}
    over = _was_rolled_out(situation) or rolled_out(progress, situation.floor)
    return {} if over and not rollout.blocked else rollout.as_status()


def _contest(situation: Situation) -> str:
    """The message of a Contested condition; empty when there is none."""
    modified = situation.modified
    return modified.message if modified and modified.reason == Reason.CONTESTED else ""


def _emptied(situation: Situation, reason: Reason, message: str) -> tuple[bool, Reason, str]:
    """Pods that still finish requests count, although the Deployment no longer counts them.

    Evicted pods do not: nothing deletes them.
    """
    left = sum(not stays_on(pod) for pod in situation.pods)
    if situation.progress.seen and situation.progress.total == 0 and not left:
        return True, reason, message
    return False, Reason.PROGRESSING, f"{left} pod{'s' if left != 1 else ''} still finishing requests: wait"


def _availability(ready: int, reason: Reason, message: str) -> Condition:
    if ready:
        text = f"{ready} ready endpoint{'s' if ready > 1 else ''}"
        return Condition(type=ConditionType.AVAILABLE, status=True, reason=Reason.READY, message=text)
    return Condition(type=ConditionType.AVAILABLE, status=False, reason=reason, message=message)


def _rolled_out(situation: Situation, conditions: Sequence[Condition]) -> str | None:
    """The digest of what the newest revision's replicas are made from, once they serve; None before."""
    serves = conditions[0].status and conditions[0].reason == Reason.READY and situation.progress.ready
    return situation.source if serves else None


def _was_rolled_out(situation: Situation) -> bool:
    """Whether this generation was rolled out before: a later crash is no new rollout."""
    before = situation.before
    if before.get("observedGeneration") != situation.plan.owner.generation or not condition_in(
        before, ConditionType.READY
    ):
        return False
    unfinished = (ConditionType.RECONCILING, ConditionType.STALLED)
    return not any(condition_in(before, kind).get("status") == "True" for kind in unfinished)


def _replica_counts(progress: Progress) -> dict[str, Any]:
    return {
        "replicas": progress.total,
        "readyReplicas": progress.ready,
        "replicaSummary": f"{progress.ready}/{progress.desired}",
    }


def _counts(situation: Situation) -> dict[str, Any]:
    return {
        **_replica_counts(situation.progress),
        "desiredReplicas": situation.progress.desired,
        "selector": f"{NAME_LABEL}={situation.plan.owner.name}",
    }


def url_of(plan: ServicePlan) -> str:
    """The OpenAI base URL inside the cluster."""
    return f"http://{plan.owner.name}.{plan.owner.namespace}.svc/v1"


def _addresses(plan: ServicePlan) -> dict[str, Any]:
    return {"url": url_of(plan), "models": list(plan.names)}


def _plan(plan: ServicePlan, revision: InForce | None) -> dict[str, Any]:
    return {
        "generation": revision.generation if revision else plan.owner.generation,
        "renderVersion": plan.render_version,
        "engineVersion": plan.engine_version,
        "image": plan.container.image,
        "command": list(plan.container.command),
        "args": redacted_arguments(plan.container.args),
        "accelerator": plan.accelerator,
        "devices": plan.devices,
        "resourceName": plan.resource_name,
        "maxModelLen": plan.max_model_len,
        "maxNumSeqs": plan.max_num_seqs,
        "podSecurity": plan.pod_security,
        "defaults": [{"field": item.field, "value": item.value, "reason": item.reason} for item in plan.defaults],
        "notes": list(plan.notes),
        "facts": plan.facts,
    }
