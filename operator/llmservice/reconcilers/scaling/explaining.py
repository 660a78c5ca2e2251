"""The answer to "why that many?": the last evaluation of a service as JSON, for /explain and `llmservice explain`."""

from typing import Any

from llmservice.autoscaling.capacity_line import fitted, limits, with_measured
from llmservice.autoscaling.demand import cold_start_seconds
from llmservice.autoscaling.safe_load import safe_load
from llmservice.autoscaling.schedules import Bounds
from llmservice.autoscaling.snapshot import Replica
from llmservice.converging.pod_readings import ReadFailure, Reading
from llmservice.converging.scaled_pods import PodPhase, ScaledPod
from llmservice.converging.scaling_report import ScalingReport, schedule_status
from llmservice.planning.scaling_plan import ScalingPlan
from llmservice.reconcilers.scaling.autoscaler import PERIOD_SECONDS
from llmservice.reconcilers.scaling.evaluation import Evaluation
from llmservice.reconcilers.scaling.service_state import ServiceState


def explained(state: ServiceState, now: float) -> dict[str, Any]:
    """What is known of one service at `now` (seconds since 1970). Ages are in seconds, rates per second.

    | key                      | holds                                                                             |
    |--------------------------|-----------------------------------------------------------------------------------|
    | `replicas`               | how many are desired, ready, starting, unschedulable                              |
    | `decision`               | replicas, reason and message; `applied` is false in mode Advise                   |
    | `steps`                  | the replicas that each step of the law asks for, in their order                   |
    | `pods`                   | phase and metrics of each pod, their age, or the reason why it cannot be read     |
    | `learned`                | what is remembered: cold start, tokens/s that one replica holds                   |
    | `conditions`, `reported` | what the status says                                                              |
    | `schedule`               | which schedule sets the bounds, until when, and what follows                      |
    | `substitutes`            | what the engine does not report, and what stands in for it                        |
    """
    namespace, name = state.key
    evaluation, report = state.evaluation, state.report or ScalingReport()
    return {
        "namespace": namespace,
        "name": name,
        "periodSeconds": PERIOD_SECONDS,
        **(_evaluated(evaluation, now) if evaluation else {}),
        "conditions": [
            {
                "type": item.type,
                "status": "True" if item.status else "False",
                "reason": item.reason,
                "message": item.message,
            }
            for item in report.conditions
        ],
        "reported": {key: value for key, value in report.as_status().items() if key != "checkpoint"},
    }


def _evaluated(evaluation: Evaluation, now: float) -> dict[str, Any]:
    decision, snapshot, plan = evaluation.decision, evaluation.snapshot, evaluation.plan
    return {
        "ageSeconds": round(now - evaluation.at, 1),
        "engine": f"{plan.engine} {plan.engine_version}",
        **(_policy(plan.scaling, evaluation.bounds) if plan.scaling else {}),
        "replicas": {
            "desired": snapshot.replicas,
            "ready": snapshot.serving,
            "starting": snapshot.starting,
            "unschedulable": snapshot.unschedulable,
        },
        "decision": {
            "replicas": decision.replicas,
            "reason": decision.reason,
            "message": decision.message,
            "applied": not evaluation.advise,
        },
        "steps": [
            {"name": vote.step, "replicas": round(vote.replicas, 2), "message": vote.message} for vote in decision.trace
        ],
        "pods": [_pod(pod, evaluation, now) for pod in evaluation.pods],
        "learned": _learned(evaluation),
        "substitutes": dict(plan.scaling.metric_names.substitutes) if plan.scaling else {},
    }


def _policy(scaling: ScalingPlan, bounds: Bounds) -> dict[str, Any]:
    return {
        "minReplicas": bounds.minimum,
        "maxReplicas": bounds.maximum,
        **({"schedule": schedule_status(bounds)} if scaling.schedules else {}),
        "policy": scaling.policy,
        "source": scaling.source,
        "mode": "Advise" if scaling.advise else "Active",
    }


def _pod(pod: ScaledPod, evaluation: Evaluation, now: float) -> dict[str, Any]:
    outcome = evaluation.readings.get(pod.name)
    shown: dict[str, Any] = {"name": pod.name, "phase": pod.phase}
    if isinstance(outcome, Reading):
        replica = next((replica for replica in evaluation.snapshot.ready if replica.name == pod.name), None)
        shown |= _reading(outcome, replica, now)
    elif isinstance(outcome, ReadFailure):
        shown |= {"reason": outcome.reason, "message": outcome.message}
    elif pod.phase is PodPhase.UNSCHEDULABLE:
        shown |= {"reason": pod.phase, "message": pod.scheduler_message}
    return shown


def _reading(reading: Reading, replica: Replica | None, now: float) -> dict[str, Any]:
    flow, counters = replica and replica.flow, reading.counters
    values = {
        "ageSeconds": round(now - reading.at, 1),
        "running": counters.running,
        "waiting": counters.waiting,
        "kvCacheUse": reading.kv_use,
        "slots": reading.slots,
        "tokensPerSecond": flow and round(flow.tokens_per_second, 1),
        "arrivalsPerSecond": round(flow.arrived / flow.seconds, 3) if flow and flow.arrived is not None else None,
        "interTokenLatencySeconds": round(flow.inter_token_seconds / flow.inter_token_count, 5)
        if flow and flow.inter_token_count and flow.inter_token_seconds
        else None,
    }
    return {key: value for key, value in values.items() if value is not None}


def _learned(evaluation: Evaluation) -> dict[str, Any]:
    """What memory holds; rates only once there is a capacity line."""
    demand, capacity = evaluation.memory.demand, evaluation.memory.capacity
    learned: dict[str, Any] = {
        "coldStartSeconds": cold_start_seconds(demand),
        "coldStartsMeasured": len(demand.cold_starts),
        "loadLevels": len(capacity.line),
        "loadLevelsOfProfile": len(evaluation.policy.measured),
    }
    line = fitted(with_measured(capacity.line, evaluation.policy.measured), evaluation.policy.roofline)
    if line is None or demand.sizes is None:
        return learned
    bounds = limits(line, capacity, demand.sizes, evaluation.policy)
    return learned | {
        "tokensPerSecondPerReplica": round(safe_load(capacity, bounds)),
        "tokensPerRequest": round(demand.sizes.tokens),
        "offeredTokensPerSecond": demand.loads[-1] if demand.loads else None,
    }
