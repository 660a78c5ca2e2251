"""What went wrong between us and the API server, as one of our errors."""

from collections.abc import Mapping
from typing import Any

import orjson

from llmservice.converging.redaction import LONGEST_TEXT, redacted
from llmservice.errors import (
    Conflict,
    Expired,
    NotFound,
    OperatorError,
    Refused,
    Silent,
    Terminating,
    Unauthorized,
    Unavailable,
)
from llmservice.untrusted.texts import cut, printable

_EXCERPT = 300
_LONGEST_MESSAGE = 8192
_LONGEST_REASON = 128
_LONGEST_STATUS_BYTES = 2**20
_LONGEST_PAUSE_SECONDS = 3600.0
_TERMINATING = "because it is being terminated"
_HOPELESS = (
    "field not declared in schema",
    "duplicate entries for key",
    "request is too large",
    "trying to send message larger than max",
)
"""Words of a 500 that no other try would mend; the last two are etcd's (rpctypes) and gRPC's."""


def failure_of(status: int, body: bytes, retry_after: str = "") -> OperatorError:
    """The error for an HTTP answer that is not a success; its message is the server's own, and webhooks write in it.

    It is printable from here on, at most 8192 characters, and without what looks like a secret.

    | status                | error                                                   |
    |-----------------------|---------------------------------------------------------|
    | 404                   | NotFound                                                |
    | 409                   | Conflict                                                |
    | 422 about the UID     | Conflict: the object is another one of the same name    |
    | 410                   | Expired                                                 |
    | 403, namespace going  | Terminating                                             |
    | 401                   | Unauthorized, which is Unavailable                      |
    | 408, 429, others      | Unavailable, with the pause the server asks for         |
    | other 4xx             | Refused                                                 |
    | 500, unknown field    | Refused: an installed schema older than the operator    |
    | 500, duplicate key    | Refused: a list that is merged by key has it twice      |
    | 500, too large        | Refused: more than etcd stores, or is sent              |

    401 is no refusal: tokens rotate, and the next one may be good.
    """
    content = _status_object(body)
    message = redacted(str(content.get("message") or ""), _LONGEST_MESSAGE) or f"HTTP {status}: {_excerpt(body)}"
    reason = cut(printable(str(content.get("reason") or "")), _LONGEST_REASON)
    if status == 404:  # noqa: PLR2004
        return NotFound(reason or "NotFound", message)
    if status == 409 or (status == 422 and _is_about_uid(content)):  # noqa: PLR2004
        return Conflict(reason or "Conflict", message)
    if status == 410:  # noqa: PLR2004
        return Expired(reason or "Expired", message)
    if status == 403 and _TERMINATING in message:  # noqa: PLR2004
        return Terminating("NamespaceTerminating", message)
    if _is_refusal(status, message):
        return Refused(reason or "Refused", message)
    kind = Unauthorized if status == 401 else Unavailable  # noqa: PLR2004
    return kind(reason or "Unavailable", message, retry_after_seconds=_seconds(retry_after, content))


def failure_in_stream(status_object: Any) -> OperatorError:
    """The error for the Status object of an ERROR event in a watch; 500 when it is none."""
    code = status_object.get("code") if isinstance(status_object, dict) else None
    return failure_of(code if isinstance(code, int) else 500, orjson.dumps(status_object))


def garbled(what: str, error: Exception) -> Unavailable:
    """The error for a response that no API server would send: a proxy's page, a truncated line."""
    return Unavailable(
        "UnreadableAnswer",
        f"{what}: the answer cannot be read ({redacted(str(error), _EXCERPT)}); is a proxy in between?",
    )


def unreachable(error: Exception) -> Unavailable:
    """The error for a connection that failed, broke or timed out."""
    why = "no answer in time" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
    why = redacted(why, _EXCERPT)
    return Unavailable("Unreachable", f"the API server cannot be reached: {why}")


def silent(seconds: float) -> Silent:
    """The error for a stream on which nothing has arrived for this long."""
    return Silent("Silent", f"nothing heard for {seconds:.0f} s")


def _is_refusal(status: int, message: str) -> bool:
    if status == 500:  # noqa: PLR2004
        return any(words in message for words in _HOPELESS)
    return 400 <= status < 500 and status not in {401, 408, 429}  # noqa: PLR2004


def _is_about_uid(content: Mapping[str, Any]) -> bool:
    """An apply to a successor: "metadata.uid: Invalid value: field is immutable" (seen on 1.34)."""
    details = content.get("details")
    causes = details.get("causes") if isinstance(details, dict) else ()
    listed = causes if isinstance(causes, list) else ()
    return any(isinstance(cause, dict) and cause.get("field") == "metadata.uid" for cause in listed)


def _status_object(body: bytes) -> Mapping[str, Any]:
    if len(body) > _LONGEST_STATUS_BYTES:
        return {}
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return content if isinstance(content, dict) else {}


def _excerpt(body: bytes) -> str:
    """The beginning of an answer that is no Status object. Cut after it was redacted: no half of a secret stays."""
    return redacted(printable(body[:LONGEST_TEXT]).strip(), _EXCERPT)


def _seconds(header: str, content: Mapping[str, Any]) -> float:
    """`Retry-After` in seconds (its form as a date is never sent by an API server), or the Status object's wish."""
    if header.isdecimal():
        return float(header[:6])
    details = content.get("details")
    wish = details.get("retryAfterSeconds") if isinstance(details, dict) else None
    return min(float(wish), _LONGEST_PAUSE_SECONDS) if isinstance(wish, int | float) else 0.0
