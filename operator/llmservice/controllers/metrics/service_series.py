"""Series of each LLMService, computed at each scrape.

A series cannot outlive its resource: nothing is stored but the newest body.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import condition_in
from llmservice.objects.references import Manifest, Ref, ref_of

_LABELS = ("namespace", "name")
_ON_ITS_WAY = frozenset({Reason.DOWNLOADING, Reason.PROGRESSING, Reason.WEIGHTS_MISSING})
"""Why a model is not there, and will be."""
_REPLICAS = {"current": "replicas", "desired": "desiredReplicas", "ready": "readyReplicas"}
_REASONS = frozenset(Reason)
_OTHER_REASON = "Other"
"""For a reason that no operator writes: whoever may write the status may write anything there."""


@dataclass(slots=True, eq=False)
class ServiceSeries(Collector):
    """What the newest body of each LLMService says. `observe` listens to a cache."""

    _bodies: dict[Ref, Manifest] = field(default_factory=dict)

    def observe(self, before: Manifest | None, after: Manifest | None) -> None:
        """Keep the newest body of an LLMService, or drop it with the resource."""
        if after is not None and after["kind"] == "LLMService":
            self._bodies[ref_of(after)] = after
        elif before is not None and before["kind"] == "LLMService":
            self._bodies.pop(ref_of(before), None)

    def collect(self) -> Iterator[Metric]:
        """All series as they are now. Called from another thread; the copy of the dict is one step for the GIL."""
        families = _families()
        for ref, body in [*self._bodies.items()]:
            _add([ref.namespace, ref.name], body, families)
        yield from families.values()


def _families() -> dict[str, GaugeMetricFamily]:
    """The gauges of resources by their short names, empty."""
    described = {
        "info": ("What a resource asks for; always 1.", "engine", "model", "accelerator"),
        "replicas": ("Replicas by kind.", "kind"),
        "devices": (
            "Devices of the replicas that are desired, current and ready, by type and resource; none on the CPU.",
            *("accelerator", "resource", "kind"),
        ),
        "condition": ("1 for the status a condition has now.", "type", "status"),
        "ready_reason": ("Why the condition Ready is what it is; always 1.", "status", "reason"),
        "download_failing": ("1 while the last try to download its model failed.",),
    }
    return {
        name: GaugeMetricFamily(f"llmservice_{name}", text, labels=[*_LABELS, *labels])
        for name, (text, *labels) in described.items()
    }


def _add(identity: list[str], body: Manifest, families: Mapping[str, GaugeMetricFamily]) -> None:
    status = body.get("status") or {}
    families["info"].add_metric([*identity, *_described(body)], 1)
    for kind, key in _REPLICAS.items():
        if key in status:
            families["replicas"].add_metric([*identity, kind], status[key])
            if devices := _devices(status):
                accelerator, resource, each = devices
                families["devices"].add_metric([*identity, accelerator, resource, kind], each * status[key])
    for condition in status.get("conditions") or ():
        families["condition"].add_metric([*identity, condition["type"], condition["status"]], 1)
    if ready := condition_in(status, ConditionType.READY):
        reason = ready["reason"] if ready["reason"] in _REASONS else _OTHER_REASON
        families["ready_reason"].add_metric([*identity, ready["status"], reason], 1)
    if weights := condition_in(status, ConditionType.WEIGHTS_READY):
        failing = weights["status"] == "False" and weights["reason"] not in _ON_ITS_WAY
        families["download_failing"].add_metric(identity, failing)


def _described(body: Mapping[str, Any]) -> tuple[str, str, str]:
    """Engine, model and accelerator, of which only the engine is sure to be there."""
    spec, plan = body.get("spec") or {}, (body.get("status") or {}).get("plan") or {}
    model = (spec.get("model") or {}).get("uri", "")
    return str(spec.get("engine", "")), str(model), str(plan.get("accelerator") or "")


def _devices(status: Mapping[str, Any]) -> tuple[str, str, int] | None:
    """Type, resource and number of the devices of each replica; None on the CPU or before there is a plan."""
    plan = status.get("plan") or {}
    number = plan.get("devices") or 0
    return (str(plan.get("accelerator") or ""), str(plan.get("resourceName") or ""), number) if number else None
