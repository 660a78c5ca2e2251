"""What is said of starts that take long: before their budget is used up, and from then on.

The budget follows the model's size and the slowest start that was seen (`planning/startup.py`). It ends no start: the
operator does not read the log of an engine that loads, and cannot tell a slow one from one that hangs. What it does is
to tell it, so that somebody looks, and to give up a change of which nothing else serves (`giving_up.py`).
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.startup_events import last_start
from llmservice.converging.startup_phases import engine_started_at
from llmservice.objects.pods import engine_of, has_served, has_started, is_living, is_ready
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan

WARNED_SHARE = 0.8


def how_to_wait(plan: ServicePlan, pods: Iterable[Manifest], status: Mapping[str, Any], now: datetime) -> str:
    """The end of the sentence about replicas that start; it changes at most once in a start."""
    budget = plan.container.startup_seconds
    if any(used >= WARNED_SHARE * budget for _, used in _used(pods, now)):
        return f"{WARNED_SHARE:.0%} of its {budget} s are used, {_then(plan)}{last_start(status)}"
    return f"wait{last_start(status)}"


def seconds_to_news(plan: ServicePlan, pods: Iterable[Manifest], now: datetime) -> float | None:
    """Seconds until something else is to be said of a start; None where only an event changes it."""
    budget = plan.container.startup_seconds
    left = (due - used for _, used in _used(pods, now) for due in (WARNED_SHARE * budget, budget) if used < due)
    return min(left, default=None)


def overdue(plan: ServicePlan, pods: Iterable[Manifest], now: datetime) -> Diagnosis | None:
    """The start that has used up its budget, the longest one; None without one, and where the kubelet ends it."""
    if ends_late_starts(plan):
        return None
    budget = plan.container.startup_seconds
    used, name = max(((used, pod["metadata"]["name"]) for pod, used in _used(pods, now)), default=(0.0, ""))
    if used < budget or not name:
        return None
    message = (
        f"{name} has been loading the model for longer than its budget of {budget} s; nothing restarts it: if its log "
        "still moves, wait, and raise spec.startup.timeoutSeconds (that restarts nothing); if not, it hangs: delete "
        "the pod"
    )
    return Diagnosis(reason=Reason.STARTUP_TIMED_OUT, message=message)


def each_is_overdue(plan: ServicePlan, pods: Iterable[Manifest], now: datetime) -> bool:
    """Whether there are pods, and the start of each one has used up its budget without being ended."""
    living = [pod for pod in pods if is_living(pod)]
    late = [pod for pod, used in _used(living, now) if used >= plan.container.startup_seconds]
    return bool(living) and len(late) == len(living) and not ends_late_starts(plan)


def ends_late_starts(plan: ServicePlan) -> bool:
    """Whether the kubelet restarts an engine whose budget is used up, as pods of earlier operators ask it to."""
    return probe_ends_after(plan) <= plan.container.startup_seconds + plan.container.probes.startup.period_seconds


def probe_ends_after(plan: ServicePlan) -> int:
    """Seconds after which the startup probe has the kubelet restart an engine that has not started."""
    probe = plan.container.probes.startup
    return probe.period_seconds * probe.failures


def _then(plan: ServicePlan) -> str:
    if ends_late_starts(plan):
        return (
            "after which it is restarted; if its log still moves, raise spec.startup.timeoutSeconds (that restarts it "
            "too)"
        )
    return (
        "after which the start counts as failed, although nothing ends it; if its log still moves, raise "
        "spec.startup.timeoutSeconds (that restarts nothing)"
    )


def _used(pods: Iterable[Manifest], now: datetime) -> Iterator[tuple[Manifest, float]]:
    """The pods whose engines run and have not started yet, and for how many seconds they do."""
    for pod in pods:
        began = engine_started_at(pod)
        if (
            began is not None
            and is_living(pod)
            and not (is_ready(pod) or has_started(engine_of(pod)) or has_served(pod))
        ):
            yield pod, max(0.0, now.timestamp() - began)
