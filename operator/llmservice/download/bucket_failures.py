"""What an object store's refusals are told as: by its status and its own code, in its own words.

Codes: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html,
https://cloud.google.com/storage/docs/xml-api/reference-status,
https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes
"""

from llmservice.converging.redaction import redacted
from llmservice.download.failing import DownloadFailed, failed
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.untrusted.patterns import compiled
from llmservice.untrusted.texts import cut

_R = DownloadFailureReason
_LONGEST_READ, _LONGEST_SHOWN = 8192, 200
_STATUS = compiled(r"status code: (?P<status>[0-9]{3})")
_CODE = compiled(r"<Code>(?P<code>[A-Za-z0-9.]{1,64})</Code>")
_MESSAGE = compiled(r"<Message>(?P<message>[^<]{1,200})")
_NO_KEYS = compiled(r"169\.254\.|metadata\.google|[Cc]redential")
"""Without keys in the environment a store's client asks the machine for them, at these addresses."""
_BY_CODE = {
    **dict.fromkeys(("NoSuchBucket", "ContainerNotFound", "PermanentRedirect"), _R.BUCKET_UNKNOWN),
    **dict.fromkeys(("NoSuchKey", "BlobNotFound"), _R.FILE_MISSING),
    **dict.fromkeys(("InvalidAccessKeyId", "XAdminUserNotFound"), _R.BUCKET_DENIED),  # the latter is VersityGW's
    **dict.fromkeys(("SlowDown", "ServerBusy", "TooManyRequests", "RequestLimitExceeded"), _R.THROTTLED),
}
_BY_STATUS = {
    400: _R.BUCKET_DENIED,
    401: _R.BUCKET_DENIED,
    403: _R.BUCKET_DENIED,
    404: _R.BUCKET_UNKNOWN,
    412: _R.CHECKSUM_MISMATCH,
    429: _R.THROTTLED,
}
_BY_KIND = {
    "PermissionDeniedError": _R.BUCKET_DENIED,
    "UnauthenticatedError": _R.BUCKET_DENIED,
    "PreconditionError": _R.CHECKSUM_MISMATCH,
    "FileNotFoundError": _R.FILE_MISSING,
}


def refusal(error: Exception, what: str) -> DownloadFailed:
    """The failure that an error of obstore stands for; `what` was asked for."""
    said = str(error)[:_LONGEST_READ]
    return failed(_reason(error, said), f"{what}: {_words(error, said)}")


def may_pass(error: Exception) -> bool:
    """Whether the same request may succeed a little later."""
    return _reason(error, str(error)[:_LONGEST_READ]) in {_R.NO_ROUTE, _R.THROTTLED}


def _reason(error: Exception, said: str) -> DownloadFailureReason:
    code, status = _CODE.first(said), _STATUS.first(said)
    if code and code["code"] in _BY_CODE:
        return _BY_CODE[code["code"]]
    if type(error).__name__ in _BY_KIND:
        return _BY_KIND[type(error).__name__]
    if status:
        return _BY_STATUS.get(int(status["status"]), _R.NO_ROUTE)
    return _R.BUCKET_DENIED if _NO_KEYS.is_in(said) else _R.NO_ROUTE


def _words(error: Exception, said: str) -> str:
    """What the store says; the rest of an error of obstore is for those who read its source."""
    code, message, status = _CODE.first(said), _MESSAGE.first(said), _STATUS.first(said)
    if code and message:
        return f"{code['code']}: {message['message']}"
    if type(error).__name__ == "PreconditionError":
        return "it changed while it was downloaded"
    if status:
        return f"the store answers HTTP {status['status']}"
    if _NO_KEYS.is_in(said):
        return "there are no keys in the environment, and the machine has none"
    return cut(redacted(said.partition("Debug source")[0].replace("\n", " ").strip()), _LONGEST_SHOWN)
