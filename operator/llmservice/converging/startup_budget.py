"""What is said while replicas start: how long the last start took, and that the budget is nearly used up.

The probe of a running pod cannot be changed, and an edit starts the pod anew: so the only help for a model that loads
longer than its budget is to know before. The budget follows the model's size and the slowest start that was seen
(`planning/startup.py`); where both are wrong, this tells it before the kubelet ends the start.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from llmservice.converging.startup_events import last_start
from llmservice.converging.startup_phases import engine_started_at
from llmservice.objects.pods import engine_of, has_served, has_started, is_living, is_ready
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan

WARNED_SHARE = 0.8


def how_to_wait(plan: ServicePlan, pods: Iterable[Manifest], status: Mapping[str, Any], now: datetime) -> str:
    """The end of the sentence about replicas that start; it changes at most once in a start."""
    budget = plan.container.startup_seconds
    if any(used >= WARNED_SHARE * budget for used in _used(pods, now)):
        return (
            f"{WARNED_SHARE:.0%} of its {budget} s are used, after which it is restarted; if its log still moves, "
            f"raise spec.startup.timeoutSeconds (that restarts it too){last_start(status)}"
        )
    return f"wait{last_start(status)}"


def seconds_to_warning(plan: ServicePlan, pods: Iterable[Manifest], now: datetime) -> float | None:
    """Seconds until `how_to_wait` says something else; None where only an event changes it."""
    due = WARNED_SHARE * plan.container.startup_seconds
    return min((due - used for used in _used(pods, now) if used < due), default=None)


def _used(pods: Iterable[Manifest], now: datetime) -> Iterator[float]:
    """Seconds for which the engines run that have not started yet."""
    for pod in pods:
        began = engine_started_at(pod)
        if (
            began is not None
            and is_living(pod)
            and not (is_ready(pod) or has_started(engine_of(pod)) or has_served(pod))
        ):
            yield max(0.0, now.timestamp() - began)
