"""The autoscaling settings in seconds and ratios; refuses targets on metrics that the engine does not export."""

from collections.abc import Iterator

from llmservice.api.v1alpha1.autoscaling import Autoscaling
from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.metric_names import MetricNames
from llmservice.errors import InvalidSpec
from llmservice.planning.scaling_plan import LoadTargets, ScalingPlan
from llmservice.planning.schedules import choose_schedules


def choose_scaling(asked: Autoscaling, metric_names: MetricNames) -> ScalingPlan:
    """The plan of the autoscaler; raises InvalidSpec for what the engine does not report."""
    if not (metric_names.running and metric_names.waiting):
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            "this engine reports neither running nor waiting requests, so that its load cannot be known; remove it and "
            "set spec.replicas",
            field="spec.autoscaling",
        )
    _check_rest(asked, metric_names)
    return ScalingPlan(
        minimum=asked.min_replicas,
        maximum=asked.max_replicas,
        advise=asked.mode == "Advise",
        policy=asked.policy,
        targets=_targets(asked, metric_names),
        ttft_seconds=asked.objective.time_to_first_token_milliseconds / 1000,
        tpot_seconds=asked.objective.time_per_output_token_milliseconds / 1000,
        reserve=asked.reserve,
        source=asked.source,
        metric_names=metric_names,
        measured=_measured(asked, metric_names),
        schedules=choose_schedules(asked.schedules),
        idle_after_seconds=asked.idle.after_seconds if asked.idle else None,
    )


def check_activator(spec: LLMServiceSpec, *, installed: bool) -> None:
    """Refuse zero replicas where nothing would hold the requests that come meanwhile."""
    if spec.autoscaling is not None and spec.autoscaling.may_sleep and not installed:
        raise InvalidSpec(
            Reason.ACTIVATOR_MISSING,
            "must not be 0, here or in a schedule: this operator has no activator, which would hold the requests of a "
            "service without a replica; ask an administrator to install it (activator.enabled of the chart), or set 1",
            field="spec.autoscaling.minReplicas",
        )


def replica_bound(spec: LLMServiceSpec) -> int:
    """The largest number of replicas the spec allows for."""
    fixed = 1 if spec.replicas is None else spec.replicas
    return fixed if spec.autoscaling is None else max(fixed, spec.autoscaling.max_replicas)


def notes_on_scaling(asked: Autoscaling | None, metric_names: MetricNames) -> Iterator[str]:
    """Sentences for `status.plan`: when it sleeps, and what was asked of the autoscaler and changes nothing."""
    if asked is not None and asked.may_sleep:
        yield _when_it_sleeps(asked)
    if asked is None or "objective" not in asked.model_fields_set:
        return
    if asked.policy != "Learned":
        yield f"spec.autoscaling.objective changes nothing with policy {asked.policy}: only Learned keeps to it"
    elif not (metric_names.ttft or metric_names.tpot or metric_names.inter_token_latency):
        yield (
            "spec.autoscaling.objective changes nothing here: this engine reports no latencies for what this model is "
            "asked, so that replicas follow running and waiting requests"
        )


def _check_rest(asked: Autoscaling, metric_names: MetricNames) -> None:
    """Refuse zero where no counter moves with requests: gauges alone miss those between two readings."""
    counters = (metric_names.finished, metric_names.prompt_tokens, metric_names.generated_tokens)
    if asked.may_sleep and not any(counters):
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            "this engine counts no requests, so that nobody can tell whether it is idle; set it to 1, and that of each "
            "schedule",
            field="spec.autoscaling.minReplicas",
        )


def _when_it_sleeps(asked: Autoscaling) -> str:
    nights = ", ".join(each.name for each in asked.schedules if each.min_replicas == 0)
    hours = f", in the hours of {nights}," if asked.min_replicas else ""
    after = (
        "ten times as long as its last start took (at least 300 s, at most 3600 s; 600 s until one was measured; "
        "status.autoscaling.idle.afterSeconds has the figure)"
    )
    if asked.idle is not None and asked.idle.after_seconds is not None:
        after = f"{asked.idle.after_seconds} s"
    return (
        f"sleeps{hours} when no request came for {after}: no replica runs, and the next request is held until one does"
    )


def _measured(asked: Autoscaling, metric_names: MetricNames) -> tuple[tuple[float, float], ...]:
    if asked.profile is None:
        return ()
    if not metric_names.inter_token_latency:
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            "this engine reports no time between tokens, so that replicas follow its running and waiting requests and "
            "no capacity in tokens; remove it",
            field="spec.autoscaling.profile",
        )
    return tuple((float(at.tokens_per_second), 1e6 / at.time_per_output_token_microseconds) for at in asked.profile)


def _targets(asked: Autoscaling, metric_names: MetricNames) -> LoadTargets:
    targets = asked.targets
    if targets is None:
        return LoadTargets()
    if targets.kv_cache_percent is not None and not metric_names.kv_use:
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            "this engine does not report its KV-cache usage; set runningRequests or queuedRequests instead",
            field="spec.autoscaling.targets.kvCachePercent",
        )
    return LoadTargets(
        kv_use=None if targets.kv_cache_percent is None else targets.kv_cache_percent / 100,
        waiting=targets.queued_requests,
        running=targets.running_requests,
    )
