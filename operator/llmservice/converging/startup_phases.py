"""How long the parts of a pod's start took: from Kubernetes' times, and from what the engine's log says.

| phase     | from                      | to                                                       |
|-----------|---------------------------|----------------------------------------------------------|
| scheduled | the pod is created        | it has a node (PodScheduled)                             |
| volumes   | it has a node             | volumes and network are there (PodReadyToStartContainers) |
| image     | volumes are there         | the engine's container is started: image, injected init containers |
| download  | –                         | what the engine says that fetching the weights took      |
| load      | the container is started  | the weights are in memory; what no line tells apart is in it |
| compile   | –                         | what the engine says that compiling took                 |
| warm-up   | the weights are in memory | the pod is ready; without what compiling took            |

Each phase ends where the next begins, and the last one where the pod is ready: so they add up to the whole, to the
second. A phase that nothing tells is left out, and its time is in the one after it (volumes), or in load. Kubernetes'
times are whole seconds.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from llmservice.engines.start_times import StartTimes
from llmservice.objects.pods import condition, created_at, engine_of, running_of
from llmservice.objects.references import Manifest
from llmservice.objects.starts import PHASE_FIELDS

LONGEST_START_SECONDS = 7 * 86_400
"""A pod that waited longer for a node says nothing of how long a start takes."""


def start_phases(pod: Manifest, times: StartTimes) -> dict[str, int] | None:
    """Seconds of each phase of the start of a pod that is ready, by its name; None where Kubernetes' times are missing.

    The pod must be in the first run of its engine, and have become ready once.
    """
    created, started, ready = moment(created_at(pod)), engine_started_at(pod), _since(pod, "Ready")
    if created is None or started is None or ready is None or not 0 <= ready - created <= LONGEST_START_SECONDS:
        return None
    ends = {**_before_engine(pod), "image": started, **_in_engine(times, started, ready)}
    told, begin = dict[str, int](), created
    for phase in PHASE_FIELDS:
        if (end := ends.get(phase)) is not None:
            end = min(max(end, begin), ready)
            told[phase], begin = round(end) - round(begin), end
    return told


def phases_until(pod: Manifest) -> dict[str, int]:
    """Seconds of the phases that are over in a pod that is not ready yet."""
    created = moment(created_at(pod))
    if created is None:
        return {}
    done, begin = dict[str, int](), created
    for phase, end in (*_before_engine(pod).items(), ("image", engine_started_at(pod))):
        if end is not None:
            done[phase], begin = round(max(0.0, end - begin)), max(begin, end)
    return done


def phase_of(pod: Manifest) -> str:
    """The phase that a pod which is not ready is in. What the engine does before it is ready is called load."""
    if engine_started_at(pod) is not None:
        return "load"
    scheduled, prepared = _before_engine(pod).values()
    if scheduled is None:
        return "scheduled"
    return "volumes" if prepared is None and condition(pod, "PodReadyToStartContainers") else "image"


def engine_started_at(pod: Manifest) -> float | None:
    """When the current run of the engine began, in seconds since 1970; None while it does not run."""
    return moment((running_of(engine_of(pod)) or {}).get("startedAt"))


def seconds_in_engine(phases: Mapping[str, int]) -> int:
    """What the startup budget is about: from the start of the engine's container to ready."""
    return sum(seconds for phase, seconds in phases.items() if phase not in {"scheduled", "volumes", "image"})


def expected_start_seconds(status: Mapping[str, Any]) -> float | None:
    """How long the next start of a service may take, from created to ready: as long as the last one that was told.

    `status` is that of the LLMService, as anybody may have written it. None where no start was told yet.
    """
    startup = status.get("startup")
    last = startup.get("last") if isinstance(startup, Mapping) else None
    seconds = last.get("totalSeconds") if isinstance(last, Mapping) else None
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 0 <= seconds <= LONGEST_START_SECONDS:
        return None
    return float(seconds)


def moment(text: object) -> float | None:
    """Seconds since 1970 of a time as Kubernetes writes it; None where it is none."""
    if not isinstance(text, str) or not text:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def _before_engine(pod: Manifest) -> dict[str, float | None]:
    """When it got its node, and when its volumes and its network were there."""
    return {"scheduled": _since(pod, "PodScheduled"), "volumes": _since(pod, "PodReadyToStartContainers")}


def _in_engine(times: StartTimes, started: float, ready: float) -> dict[str, float | None]:
    """When the parts of the engine's start ended; None of those that nothing tells. The last one ends with ready."""
    downloaded = None if times.download_seconds is None else min(started + times.download_seconds, ready)
    compiled = times.compile_seconds
    loaded = times.loaded_at
    if loaded is None:
        loaded = ready if compiled is None else max(downloaded or started, ready - compiled)
        return {"download": downloaded, "load": loaded, "compile": None if compiled is None else ready}
    loaded = min(max(loaded, downloaded or started), ready)
    return {
        "download": downloaded,
        "load": loaded,
        "compile": None if compiled is None else min(loaded + compiled, ready),
        "warm-up": ready,
    }


def _since(pod: Manifest, kind: str) -> float | None:
    """When a condition that is true became so."""
    found = condition(pod, kind)
    return moment(found.get("lastTransitionTime")) if found.get("status") == "True" else None
