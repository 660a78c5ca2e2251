"""The pods of a service that hold devices, and what their engines said, as the accounting takes them."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from llmservice.accounting.pods import HeldPod
from llmservice.accounting.pods import Reading as WorkReading
from llmservice.accounting.sleep import Habits
from llmservice.accounting.usage import Kind
from llmservice.autoscaling.idling import idle_after_seconds
from llmservice.converging.pod_readings import Reading
from llmservice.objects.device_amounts import devices_of
from llmservice.objects.pods import condition, created_at, has_ended, is_placed, is_ready
from llmservice.objects.references import Manifest, is_being_deleted, uid_of

_LONGEST_SECONDS = 86_400.0


def held_pods(
    pods: Iterable[Manifest],
    plan: Mapping[str, Any],
    readings: Mapping[str, WorkReading],
    is_accelerator: Callable[[str], bool],
) -> list[HeldPod]:
    """The pods that are bound to a node and have not ended.

    `plan` is `status.plan`, which names the type of its devices; of others only the resource is known. `readings` are
    by UID. A device that `is_accelerator` does not know, such as one for networks, is left out.
    """
    planned = str(plan.get("resourceName") or "")

    def kind(resource: str) -> Kind:
        return Kind(str(plan.get("accelerator") or "") if resource == planned else "", resource)

    def devices(pod: Manifest) -> dict[Kind, int]:
        asked = devices_of(pod.get("spec") or {})
        return {kind(name): count for name, count in asked.items() if name == planned or is_accelerator(name)}

    return [
        HeldPod(
            uid=uid_of(pod),
            devices=devices(pod),
            since=_since(pod, "PodScheduled") or _moment(created_at(pod)) or 0.0,
            ready_since=_since(pod, "Ready") if is_ready(pod) else None,
            is_leaving=is_being_deleted(pod),
            reading=readings.get(uid_of(pod)),
        )
        for pod in pods
        if is_placed(pod) and not has_ended(pod)
    ]


def work_reading(reading: Reading, last: WorkReading | None) -> WorkReading:
    """What it says of work. `last` is a reading that nobody has counted yet: what was busy in it, was busy since."""
    counters = reading.counters
    is_quiet = not counters.running and not counters.waiting
    return WorkReading(
        at=reading.at,
        is_quiet=is_quiet and (last is None or last.is_quiet),
        marks=(counters.prompt_tokens, counters.generated_tokens, counters.finished, counters.rejected),
    )


def habits_of(body: Manifest) -> Habits:
    """When the service sleeps, or would, and how long its last start took; from a resource that is not validated.

    Of one that sets nothing the default follows from that start, as it does where services really sleep.
    """
    scaling = (body.get("spec") or {}).get("autoscaling") or {}
    after = (scaling.get("idle") or {}).get("afterSeconds")
    last = (((body.get("status") or {}).get("startup") or {}).get("last") or {}).get("totalSeconds")
    start = _seconds(last)
    return Habits(idle_after=idle_after_seconds(_seconds(after), start), start=start or 0.0)


def _seconds(value: Any) -> float | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return min(max(0.0, float(value)), _LONGEST_SECONDS) if is_number else None


def _since(pod: Manifest, kind: str) -> float | None:
    found = condition(pod, kind)
    return _moment(str(found.get("lastTransitionTime") or "")) if found.get("status") == "True" else None


def _moment(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp() if text else None
    except (ValueError, OverflowError, OSError):
        return None
