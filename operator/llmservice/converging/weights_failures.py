"""What a download's failure means for the service: a reason, a sentence, and whether only somebody else can help."""

from collections.abc import Mapping

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import sentence
from llmservice.converging.weights import Waiting
from llmservice.models.download_failure import DownloadFailure, DownloadFailureReason
from llmservice.models.sizes import in_gb
from llmservice.planning.cache_plan import CachePlan

_R = DownloadFailureReason
_REASONS: Mapping[DownloadFailureReason, Reason] = {
    _R.GATED: Reason.MODEL_ACCESS_DENIED,
    _R.TOKEN_REFUSED: Reason.MODEL_ACCESS_DENIED,
    _R.BUCKET_DENIED: Reason.MODEL_ACCESS_DENIED,
    _R.REPOSITORY_UNKNOWN: Reason.MODEL_NOT_FOUND,
    _R.REVISION_UNKNOWN: Reason.MODEL_NOT_FOUND,
    _R.FILE_MISSING: Reason.MODEL_NOT_FOUND,
    _R.BUCKET_UNKNOWN: Reason.MODEL_NOT_FOUND,
    _R.DISK_FULL: Reason.CLAIM_TOO_SMALL,
    _R.NOT_WRITABLE: Reason.CLAIM_ACCESS,
}
_CUT_OFF = frozenset({_R.INTERRUPTED, _R.TIMED_OUT})
"""Nobody's fault, and the next try goes on where this one ended."""
_FIRST_SECONDS, _CUT_OFF_SECONDS, _DEFINITE_SECONDS, _LONGEST_SECONDS = 30.0, 5.0, 120.0, 900.0


def pause_after(failure: DownloadFailure, tries: int) -> float:
    """Seconds until it is tried again, after so many tries that failed; what was loaded stays meanwhile."""
    first = _FIRST_SECONDS if failure.is_worth_retrying else _DEFINITE_SECONDS
    if failure.reason in _CUT_OFF:
        first = _CUT_OFF_SECONDS
    return min(_LONGEST_SECONDS, first * float(1 << min(tries - 1, 8)))


def waiting_after(failure: DownloadFailure, cache: CachePlan, again_seconds: float) -> Waiting:
    """What the service says of it. A full disk passes for nobody who only waits."""
    message = f"{cache.request.uri} is not on claim {cache.claim}: {sentence(told(failure))}; {failure.remedy}"
    return Waiting(
        reason=_REASONS.get(failure.reason, Reason.DOWNLOAD_FAILED),
        message=message,
        again_seconds=again_seconds,
        key=cache.request.key,
        passes=failure.is_worth_retrying and failure.reason is not DownloadFailureReason.DISK_FULL,
    )


def told(failure: DownloadFailure) -> str:
    """The failure's own words; of a full disk with both numbers."""
    if failure.reason is DownloadFailureReason.DISK_FULL and failure.needed:
        return f"{in_gb(failure.needed)} are needed and {in_gb(failure.free)} are free ({failure.message})"
    return failure.message or str(failure.reason)
