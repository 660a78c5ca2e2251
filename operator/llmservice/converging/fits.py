"""The condition Fits: whether the model fits the memory of its devices."""

from collections.abc import Mapping

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition
from llmservice.planning.fit.verdict import Outcome, Verdict

_SAID: Mapping[Outcome, tuple[bool | None, Reason]] = {
    Outcome.FITS: (True, Reason.FITS),
    Outcome.TIGHT: (True, Reason.FITS_TIGHTLY),
    Outcome.DOES_NOT_FIT: (False, Reason.DOES_NOT_FIT),
    Outcome.UNKNOWN: (None, Reason.FIT_UNKNOWN),
}


def fits_condition(verdict: Verdict | None) -> Condition | None:
    """What a verdict says; None where nothing was computed."""
    if verdict is None:
        return None
    status, reason = _SAID[verdict.outcome]
    return Condition(type=ConditionType.FITS, status=status, reason=reason, message=verdict.message)


def refused_for_size(reason: Reason, message: str) -> tuple[Condition, ...]:
    """The condition of a resource that was refused because it cannot fit; none for other reasons."""
    if reason is not Reason.DOES_NOT_FIT:
        return ()
    return (Condition(type=ConditionType.FITS, status=False, reason=reason, message=message),)
