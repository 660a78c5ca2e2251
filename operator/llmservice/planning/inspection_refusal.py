"""Which failures of an inspection refuse a service before a device is taken; the others only leave it without facts."""

from collections.abc import Mapping

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.model import Model
from llmservice.models.inspection_failure import FailureReason, InspectionFailure

_DEFINITE: Mapping[FailureReason, tuple[Reason, str]] = {
    FailureReason.GATED: (Reason.MODEL_ACCESS_DENIED, "spec.model.tokenSecretRef"),
    FailureReason.TOKEN_REFUSED: (Reason.MODEL_ACCESS_DENIED, "spec.model.tokenSecretRef"),
    FailureReason.REPOSITORY_UNKNOWN: (Reason.MODEL_NOT_FOUND, "spec.model.uri"),
    FailureReason.REVISION_UNKNOWN: (Reason.MODEL_NOT_FOUND, "spec.model.revision"),
    FailureReason.FILE_MISSING: (Reason.MODEL_NOT_FOUND, "spec.model.file"),
}
"""What no engine would get past either. A hub that throttles or cannot be reached may answer the engine later, and what
the inspection cannot read an engine may."""


def is_definite(failure: InspectionFailure) -> bool:
    """Whether a failure may refuse a service, which then asks again and again."""
    return failure.reason in _DEFINITE


def refusal_of(failure: InspectionFailure, model: Model) -> tuple[Reason, str, str] | None:
    """Reason, message and field to refuse with; None where the service runs without facts.

    A missing file refuses only where the resource names it: of a repository the engine may choose one itself.
    """
    found = _DEFINITE.get(failure.reason)
    if found is None:
        return None
    reason, field = found
    if failure.reason is FailureReason.FILE_MISSING and model.file is None:
        if not model.uri.startswith("pvc://") or "?repo=" in model.uri:
            return None
        field = "spec.model.uri"
    return reason, f"{failure.message}; {failure.remedy}", field
