"""What a hub's refusals mean, and what a broken connection is told as.

Status codes and `X-Error-Code`: huggingface_hub, `utils/_http.py` (`hf_raise_for_status`).
"""

import ssl
from collections.abc import Mapping

import aiohttp

from llmservice.inspection.model_files import InspectionFailed
from llmservice.models.inspection_failure import FailureReason
from llmservice.untrusted.texts import cut, printable

_BY_CODE = {
    "GatedRepo": (FailureReason.GATED, "its licence must be accepted first"),
    "RepoNotFound": (FailureReason.REPOSITORY_UNKNOWN, "there is no such repository, or the token may not see it"),
    "RevisionNotFound": (FailureReason.REVISION_UNKNOWN, "the repository has no such revision"),
    "EntryNotFound": (FailureReason.FILE_MISSING, "the repository has no such file"),
}
_BY_MESSAGE = {
    "Invalid credentials in Authorization header": (FailureReason.TOKEN_REFUSED, "the hub does not know the token"),
    "Access to this resource is disabled.": (
        FailureReason.REPOSITORY_UNKNOWN,
        "access to the repository is disabled",
    ),
}
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _TOO_MANY = 401, 403, 404, 429
_LONGEST_ERROR = 200
_PLAIN = {
    _UNAUTHORIZED: (
        FailureReason.REPOSITORY_UNKNOWN,
        "there is no such repository, or it is private and no token is given",
    ),
    _FORBIDDEN: (FailureReason.GATED, "it is not shown without a token"),
    _NOT_FOUND: (FailureReason.REPOSITORY_UNKNOWN, "there is no such thing, or the token may not see it"),
    _TOO_MANY: (FailureReason.THROTTLED, "the hub takes no more requests from here for now"),
}
_KINDS: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((aiohttp.ClientConnectorDNSError,), "no name server knows this host"),
    ((aiohttp.ClientProxyConnectionError,), "the proxy cannot be reached"),
    (
        (aiohttp.ClientSSLError, ssl.SSLError),
        "its certificate cannot be trusted: SSL_CERT_FILE names the authority's file",
    ),
    ((TimeoutError,), "no answer in time"),
)


def refusal(status: int, headers: Mapping[str, str], what: str, *, with_token: bool) -> InspectionFailed:
    """The failure that an answer other than 2xx and 3xx stands for; `what` was asked for."""
    message, code = headers.get("X-Error-Message", ""), headers.get("X-Error-Code", "")
    known = _BY_MESSAGE.get(message) or _BY_CODE.get(code)
    reason, why = known or _by_status(status, with_token=with_token)
    return InspectionFailed(reason, f"{what}: {why} (HTTP {status})", status)


def _by_status(status: int, *, with_token: bool) -> tuple[FailureReason, str]:
    """Without a token the hub says 401 of what does not exist, too: it tells nobody what is private."""
    if status == _UNAUTHORIZED and with_token:
        return FailureReason.TOKEN_REFUSED, "the hub does not know the token"
    if status == _FORBIDDEN and with_token:
        return FailureReason.TOKEN_REFUSED, "the token may not read it"
    return _PLAIN.get(status, (FailureReason.NO_ROUTE, "the hub, or something before it, cannot answer"))


def no_answer(host: str, error: Exception) -> InspectionFailed:
    """What a connection that failed is told as."""
    return InspectionFailed(FailureReason.NO_ROUTE, f"{host}: {_why(error)}")


def _why(error: Exception) -> str:
    for kinds, meaning in _KINDS:
        if isinstance(error, kinds):
            return meaning
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy refuses the connection (HTTP {error.status})"
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
    return cut(printable(text), _LONGEST_ERROR)
