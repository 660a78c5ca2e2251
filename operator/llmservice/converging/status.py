"""The status of one LLMService: one function composes it, from values only."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.adapters import adapter_names, adapters_condition, adapters_status
from llmservice.converging.conditions import Condition, condition_in, conditions_to_write
from llmservice.converging.fits import fits_condition, refused_for_size
from llmservice.converging.progress import Progress, rolled_out
from llmservice.converging.readiness import availability, progress_conditions, url_of, was_rolled_out
from llmservice.converging.redaction import redacted_arguments
from llmservice.converging.revisions import InForce
from llmservice.converging.rollback_status import revisions_status, waiting_status
from llmservice.converging.situation import Situation, Status
from llmservice.converging.updates import made_by_newer
from llmservice.converging.weights import (
    Waiting,
    kept_record,
    kept_weights,
    weights_condition,
    weights_condition_while,
)
from llmservice.models.model_facts import Task
from llmservice.objects.names import NAME_LABEL
from llmservice.planning.service_plan import ServicePlan

_OF_REPLICAS = (ConditionType.ACCELERATOR_IN_USE, ConditionType.SCALING_ACTIVE, ConditionType.ROUTE_READY)
"""What is told of replicas that run and of who reaches them, whatever is decided about the next ones."""


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
    | not yet, starts prove it hopeless  | False, diagnosis         | if ready  | absent      | True    |
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
        **_addresses(situation),
        "plan": before["plan"] if _is_kept(situation) else _plan(plan, situation.revision),
        **({"start": situation.start} if situation.start else {}),
        **kept_weights(situation.newest or plan, before),
        **({"rollout": rollout} if rollout else {}),
        **({"startup": situation.startup} if situation.startup else {}),
        **({"autoscaling": situation.scaling.as_status()} if situation.scaling else {}),
    }
    return _composed(before, plan.owner.generation, conditions, facts, now)


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
        availability(ready, reason, message),
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
        adapters_condition(situation.plan, situation.adapters),
        weights_condition(situation.newest or situation.plan, situation.before, situation.diagnosis),
        situation.route,
        situation.update,
        situation.modified,
    )
    beside = [condition for condition in said if condition]
    return [*progress_conditions(situation, now), *beside, *scaling]


def _rollout(situation: Situation) -> Status:
    """How a change reaches the replicas, until it has; empty where there is nothing to tell."""
    rollout, progress = situation.rollout, situation.progress
    if rollout is None or situation.suspended or not progress.desired:
        return {}
    over = was_rolled_out(situation) or rolled_out(progress, situation.floor)
    return {} if over and not rollout.blocked else rollout.as_status()


def _rolled_out(situation: Situation, conditions: Sequence[Condition]) -> str | None:
    """The digest of what the newest revision's replicas are made from, once they serve; None before."""
    serves = conditions[0].status and conditions[0].reason == Reason.READY and situation.progress.ready
    return situation.source if serves else None


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


def _addresses(situation: Situation) -> dict[str, Any]:
    plan, replicas = situation.plan, situation.adapters
    adapters = adapters_status(plan, replicas, situation.progress.ready)
    return {
        "url": url_of(plan),
        **({"route": situation.reached} if situation.reached else {}),
        "models": [*plan.names, *adapter_names(plan, replicas)],
        **({"adapters": adapters} if adapters else {}),
    }


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
        **({} if plan.nodes == 1 else {"nodes": plan.nodes}),
        "resourceName": plan.resource_name,
        "maxModelLen": plan.max_model_len,
        "maxNumSeqs": plan.max_num_seqs,
        "podSecurity": plan.pod_security,
        "defaults": [{"field": item.field, "value": item.value, "reason": item.reason} for item in plan.defaults],
        "notes": list(plan.notes),
        **({} if plan.task is Task.GENERATE else {"task": plan.task.value}),
        "facts": plan.facts,
    }
