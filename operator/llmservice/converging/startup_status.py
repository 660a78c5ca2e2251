"""`status.startup`: one start at a time is followed from the pod to ready; the last one is kept, and the slowest.

So a thousand replicas that start at once are one start in the status, and a restarted operator goes on with the pod
that is named there. Only pods of the newest revision are followed, in the first run of their engines: what a restart
took says nothing of a start, and neither does a pod that was ready before.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import condition_in
from llmservice.converging.scaled_pods import LONGEST_COLD_START_SECONDS
from llmservice.converging.startup_phases import (
    expected_start_seconds,
    phase_of,
    phases_until,
    seconds_in_engine,
    start_phases,
)
from llmservice.engines.start_times import StartTimes
from llmservice.objects.pods import engine_of, has_served, is_living, is_ready, newest_first
from llmservice.objects.references import Manifest, controller_of, controller_uid
from llmservice.objects.starts import PHASE_FIELDS, phases_in
from llmservice.planning.service_plan import ServicePlan

Status = Mapping[str, Any]

STEPS = ("Starting", "Loading", "Started")
"""What Events tell of a rollout, in this order; each at most once."""

_KEPT = {"last": Mapping, "slowestSeconds": int, "model": str}
_LATE_SECONDS = 300
"""A start that took so much longer than its budget counts where it was told of: else the pod may have been ready
before, and nobody looked."""


def part(status: Status, *path: str) -> Status:
    """A part of `status.startup`; empty where there is none."""
    found: object = status.get("startup")
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def followed_pod(status: Status, pods: Iterable[Manifest]) -> Manifest | None:
    """The pod whose start is told: the one that the status names, else the newest that starts; None without one."""
    newest, named = _of_newest_revision(pods), part(status, "current").get("pod")
    starting = [pod for pod in newest if not is_ready(pod) and not has_served(pod)]
    ready = (pod for pod in newest if is_ready(pod) and _name(pod) == named)
    return next(iter((*ready, *(pod for pod in starting if _name(pod) == named), *starting)), None)


def startup_status(
    plan: ServicePlan, status: Status, pods: Iterable[Manifest], times: Mapping[str, StartTimes]
) -> dict[str, Any] | None:
    """What `status.startup` says next; None while nothing is known.

    `status` is that of the LLMService as it stands. `times` has the pods whose logs were read: until then a start has
    not ended.
    """
    before, pods = part(status), list(pods)
    pod = followed_pod(status, pods)
    kept = {key: before[key] for key, kind in _KEPT.items() if isinstance(before.get(key), kind)}
    ended: Status = {}
    if pod is not None and is_ready(pod) and _name(pod) in times:
        ended = _ended(plan, status, pod, times[_name(pod)])
        kept |= _learned(plan, before, ended)
        pod = followed_pod({}, pods)
    current = {"current": _current(pod)} if pod is not None else {}
    return {**current, **kept, **_announced(before, current.get("current"), ended)} or None


def known_cold_start(plan: ServicePlan, status: Status) -> float | None:
    """What the autoscaler expects a start to take before it has seen one: the last one of the same model.

    The same figure that it measures itself, from created to ready, and with the same bound.
    """
    seconds = expected_start_seconds(status) if part(status).get("model") == plan.model else None
    return None if seconds is None else min(seconds, LONGEST_COLD_START_SECONDS)


def _current(pod: Manifest) -> dict[str, Any]:
    return {**_identity(pod), "phase": phase_of(pod), **_fields(phases_until(pod))}


def _ended(plan: ServicePlan, status: Status, pod: Manifest, times: StartTimes) -> dict[str, Any]:
    """The start of a pod that is ready; empty where nobody can tell how long it took."""
    phases = start_phases(pod, times)
    if phases is None:
        return {}
    late = seconds_in_engine(phases) > plan.container.startup_seconds + _LATE_SECONDS
    if late and condition_in(status, ConditionType.READY).get("reason") != Reason.STARTUP_TIMED_OUT:
        return {}
    return {**_identity(pod), **_fields(phases), "totalSeconds": sum(phases.values())}


def _learned(plan: ServicePlan, before: Status, ended: Status) -> dict[str, Any]:
    """What a start that ended well adds: the slowest counts for as long as the model stays the same."""
    if not ended:
        return {}
    known = before.get("slowestSeconds") if before.get("model") == plan.model else None
    slowest = max(seconds_in_engine(phases_in(ended)), known if isinstance(known, int) else 0)
    return {"last": ended, "slowestSeconds": slowest, "model": plan.model}


def _announced(before: Status, current: Status | None, ended: Status) -> dict[str, str]:
    """How far Events have told of the newest rollout that is known."""
    told = {key: before[key] for key in ("announcedRevision", "announced") if isinstance(before.get(key), str)}
    start = ended or current
    if not start:
        return told
    step = "Started" if ended else "Loading" if start.get("phase") == "load" else "Starting"
    if told.get("announcedRevision") == start["revision"] and told.get("announced") in STEPS[STEPS.index(step) :]:
        return told
    return {"announcedRevision": start["revision"], "announced": step}


def _identity(pod: Manifest) -> dict[str, str]:
    return {"pod": _name(pod), "revision": str(controller_of(pod).get("name", ""))}


def _fields(phases: Mapping[str, int]) -> dict[str, int]:
    return {PHASE_FIELDS[phase]: seconds for phase, seconds in phases.items()}


def _of_newest_revision(pods: Iterable[Manifest]) -> list[Manifest]:
    """The living ones in the first run of their engines, the newest first."""
    living = newest_first(filter(is_living, pods))
    return [pod for pod in living if controller_uid(pod) == controller_uid(living[0]) and not _was_restarted(pod)]


def _was_restarted(pod: Manifest) -> bool:
    return int(engine_of(pod).get("restartCount") or 0) > 0


def _name(pod: Manifest) -> str:
    return str(pod["metadata"]["name"])
