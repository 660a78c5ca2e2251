"""How a download ends without a model: the failure that it leaves the package as."""

import errno

from llmservice.converging.redaction import redacted
from llmservice.inspection.model_files import InspectionFailed
from llmservice.models.download_failure import DownloadFailure, DownloadFailureReason

_LONGEST_MESSAGE = 512
_FULL = (errno.ENOSPC, errno.EDQUOT)


class DownloadFailed(Exception):
    """Leaves this package as the value that it carries. The message may quote what strangers wrote."""

    def __init__(self, failure: DownloadFailure) -> None:
        self.failure = failure
        super().__init__(failure.message)


def failed(reason: DownloadFailureReason, message: str, *, needed: int = 0, free: int = 0) -> DownloadFailed:
    """The failure, with its message cut to what a status holds, and without secrets: stores quote signed addresses."""
    told = redacted(message, _LONGEST_MESSAGE)
    return DownloadFailed(DownloadFailure(reason=reason, message=told, needed=needed, free=free))


def from_hub(error: InspectionFailed) -> DownloadFailed:
    """What an inspection would have said: both ask the same hub."""
    return failed(DownloadFailureReason(error.failure.reason.value), error.failure.message)


def not_written(what: str, error: OSError) -> DownloadFailed:
    """What the file system said when something was to be written to the claim, but for a full disk."""
    return failed(DownloadFailureReason.NOT_WRITABLE, f"{what} cannot be written: {error.strerror or error}")


def is_full(error: OSError) -> bool:
    """Whether the disk, or what the user may fill of it, is full."""
    return error.errno in _FULL


def first_of(errors: BaseExceptionGroup[DownloadFailed]) -> DownloadFailed:
    """One of the failures of files that were fetched at the same time; the others ended for its sake."""
    first = errors.exceptions[0]
    return first_of(first) if isinstance(first, BaseExceptionGroup) else first
