"""What users read of an inspection: refusals by each failure, and why a service runs without facts."""

from collections.abc import Iterator

from llmservice.api.v1alpha1.model import Model
from llmservice.converging.inspection_pods import not_inspected, why_no_answer
from llmservice.models.inspection_failure import FailureReason, InspectionFailure
from llmservice.objects.references import Manifest
from llmservice.planning.inspection_refusal import refusal_of

_MODELS = (Model(uri="hf://owner/name"), Model(uri="hf://owner/name", file="a.gguf"), Model(uri="pvc://models/a.gguf"))


def _pod(**status: object) -> Manifest:
    return {"metadata": {"name": "inspect"}, "status": status}


def _container(**state: object) -> Manifest:
    return _pod(containerStatuses=[{"name": "inspect", "state": state}])


def _event(reason: str, message: str) -> Manifest:
    return {"metadata": {}, "reason": reason, "message": message, "lastTimestamp": "2026-01-01T00:00:00Z"}


_UNSCHEDULED = {"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}
_OBSTACLES: tuple[tuple[Manifest | None, list[Manifest]], ...] = (
    (None, []),
    (None, [_event("FailedCreate", "pods is forbidden: exceeded quota: small")]),
    (_pod(conditions=[_UNSCHEDULED]), []),
    (
        _container(waiting={"reason": "ContainerCreating"}),
        [_event("FailedMount", "Multi-Attach error for pv-1")],
    ),
    (_container(waiting={"reason": "ImagePullBackOff", "message": "Back-off pulling image"}), []),
    (_container(terminated={"reason": "OOMKilled", "exitCode": 137}), []),
    (_container(running={}), []),
)


def sentences() -> Iterator[str]:
    """Each once."""
    for model in _MODELS:
        for reason in FailureReason:
            if refused := refusal_of(InspectionFailure(reason, "what was asked for: why not"), model):
                yield f"{refused[0]}, {reason}: {refused[2]}: {refused[1]}"
    for pod, events in _OBSTACLES:
        yield not_inspected(why_no_answer(pod, events))
