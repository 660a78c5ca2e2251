"""The answer to "why that many?": the last look at a service as JSON, for /explain and `llmservice explain`."""

from typing import Any

from llmservice.autoscaling.capacity_line import fitted, limits
from llmservice.autoscaling.demand import cold_start_seconds
from llmservice.autoscaling.safe_load import safe_load
from llmservice.autoscaling.snapshot import Replica
from llmservice.converging.scaled_pods import ScaledPod, Standing
from llmservice.planning.service_plan import ScalingPlan
from llmservice.reconcilers.scaling.evaluations import Evaluation, Record
from llmservice.signals.source import ReadFailure, Reading


def explained(record: Record, now: float) -> dict[str, Any]:
    """What is known of one service at `now` (seconds since 1970). Ages are in seconds, rates per second.

    | key                        | holds                                                               |
    |----------------------------|---------------------------------------------------------------------|
    | `decision`                 | replicas, reason and message; `appliesIt` false in mode Advise      |
    | `votes`                    | what each step asked for, in the order of the steps                 |
    | `pods`                     | what each pod says, how old that is, or why it says nothing         |
    | `learnt`                   | what is remembered: cold start, tokens/s that one replica holds     |
    | `conditions`, `told`       | what the status says                                                |
    | `substitutes`              | what the engine does not say, and what stands in for it             |
    """
    namespace, name = record.key
    look, report = record.look, record.report
    told = {
        "conditions": [
            {
                "type": item.type,
                "status": "True" if item.status else "False",
                "reason": item.reason,
                "message": item.message,
            }
            for item in (report.conditions if report else ())
        ],
        "told": {key: value for key, value in (report.as_status() if report else {}).items() if key != "checkpoint"},
    }
    head = {"namespace": namespace, "name": name, "periodSeconds": record.period_seconds}
    return {**head, **(_of(look, now) if look else {}), **told}


def _of(look: Evaluation, now: float) -> dict[str, Any]:
    decision, snapshot, scaling = look.decision, look.snapshot, look.plan.scaling
    return {
        "ageSeconds": round(now - look.at, 1),
        "engine": f"{look.plan.engine} {look.plan.engine_version}",
        **(_policy(scaling) if scaling else {}),
        "replicas": {
            "asked": snapshot.replicas,
            "ready": len(snapshot.ready) + snapshot.silent,
            "starting": snapshot.starting,
            "withoutPlace": snapshot.unschedulable,
        },
        "decision": {
            "replicas": decision.replicas,
            "reason": decision.reason,
            "message": decision.message,
            "appliesIt": not look.advise,
        },
        "votes": [
            {"step": vote.step, "replicas": round(vote.replicas, 2), "message": vote.message} for vote in decision.trace
        ],
        "pods": [_pod(pod, look, now) for pod in look.pods],
        "learnt": _learnt(look),
        "substitutes": dict(scaling.metric_names.substitutes) if scaling else {},
    }


def _policy(scaling: ScalingPlan) -> dict[str, Any]:
    return {
        "minReplicas": scaling.minimum,
        "maxReplicas": scaling.maximum,
        "policy": scaling.policy,
        "source": scaling.source,
        "mode": "Advise" if scaling.advise else "Active",
    }


def _pod(pod: ScaledPod, look: Evaluation, now: float) -> dict[str, Any]:
    outcome = look.readings.get(pod.name)
    shown: dict[str, Any] = {"name": pod.name, "standing": pod.standing}
    if isinstance(outcome, Reading):
        shown |= _reading(outcome, next((m for m in look.snapshot.ready if m.name == pod.name), None), now)
    elif isinstance(outcome, ReadFailure):
        shown |= {"problem": outcome.reason, "message": outcome.message}
    elif pod.standing is Standing.UNSCHEDULABLE:
        shown |= {"problem": pod.standing, "message": pod.obstacle}
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
        "secondsBetweenTokens": round(flow.inter_token_seconds / flow.inter_token_count, 5)
        if flow and flow.inter_token_count and flow.inter_token_seconds
        else None,
    }
    return {key: value for key, value in values.items() if value is not None}


def _learnt(look: Evaluation) -> dict[str, Any]:
    """What memory holds; rates only once there is a capacity line."""
    demand, capacity = look.memory.demand, look.memory.capacity
    learnt: dict[str, Any] = {
        "coldStartSeconds": cold_start_seconds(demand),
        "coldStartsMeasured": len(demand.cold_starts),
        "loadLevels": len(capacity.line),
    }
    line = fitted(capacity.line, look.policy.roofline)
    if line is None or demand.sizes is None:
        return learnt
    bounds = limits(line, capacity, demand.sizes, look.policy)
    return learnt | {
        "tokensPerSecondPerReplica": round(safe_load(capacity, bounds.within_objective)),
        "tokensPerRequest": round(demand.sizes.tokens),
        "offeredTokensPerSecond": demand.loads[-1] if demand.loads else None,
    }
