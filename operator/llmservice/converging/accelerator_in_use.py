"""`AcceleratorInUse`: whether the engine computes on its devices, with its own figures beside the planned."""

from collections.abc import Iterable, Mapping, Sequence

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition
from llmservice.converging.predicted_start import PredictedStart, predicted_start
from llmservice.engines.start_report import StartReport
from llmservice.models.sizes import GIB
from llmservice.objects.pods import created_at, engine_of, has_started, is_living
from llmservice.objects.references import Manifest, controller_uid
from llmservice.planning.fit.verdict import Verdict
from llmservice.planning.service_plan import ServicePlan

Reports = Mapping[str, StartReport]
"""What engines said at their start, by the name of the pod."""

_NAMED = 2
"""Devices that a message names."""
_KINDS = {"cuda": "CUDA ", "rocm": "ROCm ", "xpu": "XPU ", "vulkan": "Vulkan ", "musa": "MUSA "}
_STATUS = {
    Reason.ACCELERATOR_IN_USE: True,
    Reason.ACCELERATOR_NOT_USED: False,
    Reason.ACCELERATOR_PARTLY_USED: False,
    Reason.ACCELERATOR_NOT_REPORTED: None,
}
_REMEDY = (
    "use an image with support for it (spec.engineOptions.image, version), and a node whose driver and runtime class "
    "(spec.pod.runtimeClassName) make it visible to containers; with spec.gpu.verify: false Ready does not wait for it"
)


def accelerator_in_use(
    plan: ServicePlan, pods: Sequence[Manifest], reports: Reports, predicted: Verdict | None = None
) -> Condition | None:
    """The condition; None without devices, and while no engine has started.

    One replica that does not use its devices is enough for False; Unknown where no engine says what it uses.
    """
    started = started_pods(pods) if plan.devices else []
    if not started:
        return None
    said = {name: reports[name] for name in map(_name, started) if name in reports}
    unused = sorted(name for name, report in said.items() if report.in_use is False)
    if unused:
        return _condition(Reason.ACCELERATOR_NOT_USED, _unused(unused, len(started), plan))
    partial = {name: report for name, report in said.items() if report.is_partial}
    if partial and plan.offload_layers is None:
        return _condition(Reason.ACCELERATOR_PARTLY_USED, _partly(*min(partial.items()), plan))
    report = told(said)
    if report is None:
        return _condition(Reason.ACCELERATOR_NOT_REPORTED, _not_reported(said, started))
    return _condition(Reason.ACCELERATOR_IN_USE, _in_use(report, plan, predicted))


def blocks_ready(condition: Condition | None, *, verify: bool) -> bool:
    """Whether a resource is not Ready because of this condition: `verify` is spec.gpu.verify, and only False blocks."""
    return verify and condition is not None and condition.status is False


def started_pods(pods: Iterable[Manifest]) -> list[Manifest]:
    """The pods whose engine has started, of the newest template of which one has, by name.

    Those of an older one may have had other devices.
    """
    started = [pod for pod in pods if is_living(pod) and has_started(engine_of(pod))]
    newest = max(started, key=lambda pod: (created_at(pod), _name(pod)), default=None)
    if newest is None:
        return []
    return sorted((pod for pod in started if controller_uid(pod) == controller_uid(newest)), key=_name)


def told(reports: Reports) -> StartReport | None:
    """The report of the replica with the least room, of those that use their devices; None where none says so."""
    used = [(report.kv_tokens or 0, report.kv_bytes or 0, name) for name, report in reports.items() if report.in_use]
    return reports[min(used)[2]] if used else None


def _condition(reason: Reason, message: str) -> Condition:
    return Condition(type=ConditionType.ACCELERATOR_IN_USE, status=_STATUS[reason], reason=reason, message=message)


def _name(pod: Manifest) -> str:
    return str(pod["metadata"]["name"])


def _unused(names: Sequence[str], of: int, plan: ServicePlan) -> str:
    many = f" ({len(names)} of {of} replicas)" if of > 1 else ""
    taken = f"{plan.devices} x {plan.accelerator or plan.resource_name}"
    return f"the engine of {names[0]} computes on the CPU{many}, and {taken} stands idle: {_REMEDY}"


def _partly(name: str, report: StartReport, plan: ServicePlan) -> str:
    return (
        f"{name} has {_layers(report, plan)}, the others are on the CPU: remove what moves them from "
        "spec.engineOptions, or set spec.gpu.offloadLayers"
    )


def _not_reported(said: Reports, started: Sequence[Manifest]) -> str:
    if not said:
        return "the log of the engine's start was not read: wait, or let the operator read logs (pods/log)"
    return f"the log of {_name(started[0])} does not say what the engine computes on: see its start"


def _in_use(report: StartReport, plan: ServicePlan, verdict: Verdict | None) -> str:
    predicted = predicted_start(verdict)
    return "; ".join(
        filter(None, (_layers(report, plan), _cache(report, predicted), _requests(report, plan, predicted)))
    )


def _layers(report: StartReport, plan: ServicePlan) -> str:
    if report.offloaded_layers is None:
        return f"computes on {_place(report, plan)}"
    return f"{report.offloaded_layers} of {report.layers} layers on {_place(report, plan)}"


def _place(report: StartReport, plan: ServicePlan) -> str:
    """The devices by their names, or how many there are, and whether others were to be used too."""
    count = report.device_count or len(report.devices)
    few = f", {count} of {plan.devices_of_node} devices" if 0 < count < plan.devices_of_node else ""
    if 0 < len(report.devices) <= _NAMED:
        return f"{', '.join(report.devices)}{few}"
    kind = _KINDS.get(report.backend or "", "")
    return f"{f'{count} ' if count else ''}{kind}device{'' if count == 1 else 's'}{few}"


def _cache(report: StartReport, predicted: PredictedStart | None) -> str:
    if report.kv_bytes is None:
        return ""
    many = " on each" if (report.device_count or 1) > 1 else ""
    return f"KV cache {_gib(report.kv_bytes)} GiB{many}{_planned_cache(predicted)}"


def _planned_cache(predicted: PredictedStart | None) -> str:
    if predicted is None:
        return ""
    low, high = _gib(predicted.at_least), _gib(predicted.at_most)
    return f" (planned {low})" if low == high else f" (planned {low} to {high})"


def _requests(report: StartReport, plan: ServicePlan, predicted: PredictedStart | None) -> str:
    tokens = report.request_tokens or plan.max_model_len
    requests = report.full_length_requests
    if requests is None and report.kv_tokens and tokens:
        requests = report.kv_tokens / tokens
    if requests is None or not tokens:
        return ""
    comparable = predicted is not None and predicted.requests > 0 and predicted.request_tokens == tokens
    planned = f" (planned {predicted.requests:.1f})" if predicted and comparable else ""
    return f"{requests:.1f} requests of {tokens} tokens at once{planned}"


def _gib(size: int) -> str:
    return f"{size / GIB:.1f}"
