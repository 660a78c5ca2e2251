"""What users read of the weights of a service: while they are downloaded, when they are complete, and why not."""

from collections.abc import Iterator

from llmservice.converging.weights import complete
from llmservice.converging.weights_failures import waiting_after
from llmservice.converging.weights_progress import Received, how_far, why_slow
from llmservice.models.download_failure import DownloadFailure, DownloadFailureReason
from llmservice.models.download_request import DownloadRequest
from llmservice.planning.cache_plan import CachePlan

_CACHE = CachePlan(claim="models", request=DownloadRequest(uri="hf://owner/name"))
_GB = 10**9
_RECEIVED = Received(61 * _GB, 141 * _GB)


def sentences() -> Iterator[str]:
    """Each once."""
    for reason in DownloadFailureReason:
        numbers = {"needed": 141 * _GB, "free": 80 * _GB} if reason is DownloadFailureReason.DISK_FULL else {}
        failure = DownloadFailure(reason=reason, message="what went wrong", **numbers)
        waiting = waiting_after(failure, _CACHE, 30)
        yield f"{waiting.reason}, {'passes' if waiting.passes else 'stalled'}, {reason}: {waiting.message}"
    for left in (None, 45.0, 840.0, 30_000.0):
        yield f"Downloading: {how_far(_RECEIVED, left)}"
    yield f"DownloadSlow: {why_slow(_RECEIVED, 90, None)}"
    yield f"DownloadSlow: {why_slow(_RECEIVED, 0, 30_000.0)}"
    record = {"claim": "models", "files": 5, "bytes": 141 * _GB, "commit": "0e9e39f249a16976918f6564b8830bc894c89659"}
    yield f"Downloaded: {complete(record)}"
    yield f"Downloaded: {complete({'claim': 'models', 'files': 1, 'bytes': 48_000_000})}"
