"""What there is to say of an LLMService, taken from the resource, its pods and its Events: plain values."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType
from llmservice.objects.names import CONTAINER_NAME, NAME_LABEL
from llmservice.objects.pods import condition, is_ready
from llmservice.objects.references import Manifest

_EVENTS = 8
_ALWAYS = frozenset({ConditionType.READY, ConditionType.AVAILABLE})
_BAD_WHEN_TRUE = frozenset(
    {
        ConditionType.RECONCILING,
        ConditionType.STALLED,
        ConditionType.UPDATE_AVAILABLE,
        ConditionType.CHILDREN_MODIFIED,
    }
)
"""Of all others False is what to look at."""


def is_reached(service: Manifest) -> bool:
    """Whether the operator says of this very generation that it is as declared."""
    observed = (service.get("status") or {}).get("observedGeneration")
    ready = condition(service, ConditionType.READY).get("status") == "True"
    return ready and observed == service["metadata"].get("generation")


def state_of(
    service: Manifest, pods: Iterable[Manifest] = (), events: Iterable[Manifest] = (), *, now: datetime
) -> dict[str, Any]:
    """One service as JSON. Pods may be those of its namespace, Events are its own; times are ages in seconds."""
    metadata, spec, status = service["metadata"], service.get("spec") or {}, service.get("status") or {}
    ready = condition(service, ConditionType.READY)
    own = [pod for pod in pods if (pod["metadata"].get("labels") or {}).get(NAME_LABEL) == metadata["name"]]
    return {
        "namespace": metadata.get("namespace", ""),
        "name": metadata["name"],
        "reached": is_reached(service),
        "stalled": condition(service, ConditionType.STALLED).get("status") == "True",
        "age": age(metadata.get("creationTimestamp"), now),
        "reason": ready.get("reason", "NotObserved"),
        "message": ready.get("message", "no operator has looked at it yet: is one running, and for this namespace?"),
        "replicas": status.get("replicaSummary", ""),
        "engine": f"{spec.get('engine', '')} {(status.get('plan') or {}).get('engineVersion', '')}".rstrip(),
        "model": (spec.get("model") or {}).get("uri", ""),
        "url": status.get("url", ""),
        "plan": _plan(status.get("plan") or {}),
        "weights": status.get("weights") or {},
        "startup": status.get("startup") or {},
        "autoscaling": status.get("autoscaling") or {},
        "remarks": [_remark(each) for each in status.get("conditions") or () if _is_remarkable(each)],
        "pods": [_pod(pod, now) for pod in sorted(own, key=lambda pod: str(pod["metadata"].get("name")))],
        "events": _events(events, now),
    }


def _plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    names = ("image", "accelerator", "devices", "resourceName", "maxModelLen", "maxNumSeqs")
    return {name: plan[name] for name in names if name in plan}


def _is_remarkable(each: Mapping[str, Any]) -> bool:
    kind = each.get("type")
    return kind not in _ALWAYS and each.get("status") == ("True" if kind in _BAD_WHEN_TRUE else "False")


def _remark(each: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each.get(name, "") for name in ("type", "status", "reason", "message")}


def _pod(pod: Manifest, now: datetime) -> dict[str, Any]:
    status = pod.get("status") or {}
    engines = [each for each in status.get("containerStatuses") or () if each.get("name") == CONTAINER_NAME]
    engine: Mapping[str, Any] = engines[0] if engines else {}
    return {
        "name": pod["metadata"].get("name", ""),
        "node": (pod.get("spec") or {}).get("nodeName", ""),
        "state": _state(pod, engine),
        "restarts": engine.get("restartCount", 0),
        "age": age(pod["metadata"].get("creationTimestamp"), now),
    }


def _state(pod: Manifest, engine: Mapping[str, Any]) -> str:
    if pod["metadata"].get("deletionTimestamp"):
        return "Terminating"
    if is_ready(pod):
        return "Ready"
    waiting = (engine.get("state") or {}).get("waiting") or {}
    return str(waiting.get("reason") or (pod.get("status") or {}).get("reason") or _phase(pod))


def _phase(pod: Manifest) -> str:
    phase = str((pod.get("status") or {}).get("phase", "Unknown"))
    return "Starting" if phase == "Running" else phase


def _events(events: Iterable[Manifest], now: datetime) -> list[dict[str, Any]]:
    """The newest, the newest last."""
    return [
        {"age": age(event_time(each), now), **{name: each.get(name, "") for name in ("type", "reason")}}
        | {"message": each.get("message", "")}
        for each in sorted(events, key=event_time)[-_EVENTS:]
    ]


def event_time(event: Manifest) -> str:
    """When an Event was seen last, as the API server writes it."""
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return str(next((time for time in times if time), event["metadata"].get("creationTimestamp", "")))


def age(at: Any, now: datetime) -> float | None:
    """Seconds since a time of the API server; None where there is none."""
    try:
        return (now - datetime.fromisoformat(str(at))).total_seconds()
    except (ValueError, TypeError):
        return None
