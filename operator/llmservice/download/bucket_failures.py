"""What an object store's refusals are told as.

The store's own words come along: they name the missing right or the wrong region better than any status code.
"""

from llmservice.download.failing import DownloadFailed, failed
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.untrusted.texts import cut, printable

_R = DownloadFailureReason
_LONGEST_ERROR = 300
_BY_WORDS = (
    (("NoSuchBucket", "ContainerNotFound", "bucket does not exist"), _R.BUCKET_UNKNOWN),
    (("SlowDown", "429", "TooManyRequests", "ServerBusy"), _R.THROTTLED),
    (
        (
            "AccessDenied",
            "Forbidden",
            "SignatureDoesNotMatch",
            "InvalidAccessKeyId",
            "AuthenticationFailed",
            "ExpiredToken",
        ),
        _R.BUCKET_DENIED,
    ),
    (("CredentialsNotFound", "credential", "Credential", "metadata", "401", "403"), _R.BUCKET_DENIED),
)


def refusal(error: Exception, what: str) -> DownloadFailed:
    """The failure that an error of obstore stands for; `what` was asked for."""
    said = str(error)
    shown = cut(printable(said.replace("\n", " ")), _LONGEST_ERROR)
    return failed(_reason(error, said), f"{what}: {shown}")


def may_pass(error: Exception) -> bool:
    """Whether the same request may succeed a little later."""
    return not isinstance(error, FileNotFoundError) and _reason(error, str(error)) in {_R.NO_ROUTE, _R.THROTTLED}


def _reason(error: Exception, said: str) -> DownloadFailureReason:
    kind = type(error).__name__
    if kind in {"PermissionDeniedError", "UnauthenticatedError"}:
        return _R.BUCKET_DENIED
    if kind == "PreconditionError":
        return _R.CHECKSUM_MISMATCH
    found = next((reason for words, reason in _BY_WORDS if any(word in said for word in words)), None)
    if found is not None:
        return found
    return _R.FILE_MISSING if isinstance(error, FileNotFoundError) else _R.NO_ROUTE
