"""Heads of requests and answers: what goes on, what ends here, and what is not understood."""

from collections.abc import Mapping
from typing import Any

from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from llmservice.activator.bounds import BUFFER_BYTES
from llmservice.activator.refusals import Code, Refusal

LONGEST_HEAD = 32 * 1024
"""Bytes of a request's line and headers."""

_HOP_BY_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization"),
        *("te", "trailer", "transfer-encoding", "upgrade", "http2-settings"),
    }
)
"""Of one connection alone (RFC 9110, 7.6.1)."""
_ENDS_HERE = _HOP_BY_HOP | {"expect"}
_HTTP_1_1 = (1, 1)


def checked(
    method: str, target: str, version: tuple[int, int], headers: CIMultiDictProxy[str], head_bytes: int
) -> None:
    """Raises Refusal for a head that readers could understand in two ways, or that asks for a tunnel.

    The offer of an upgrade to HTTP/2 may be ignored (RFC 9110, 7.8); clients in Java make it with each first request.
    """
    if head_bytes > LONGEST_HEAD:
        raise Refusal(Code.NOT_UNDERSTOOD, f"the head of a request is at most {LONGEST_HEAD} bytes long")
    if method == "CONNECT" or headers.get("Upgrade", "h2c").strip().lower() != "h2c":
        raise Refusal(Code.NOT_SUPPORTED, "no tunnels and no upgrades: send a plain HTTP/1.1 request")
    if not (target.startswith("/") and target.isascii()):
        raise Refusal(Code.NOT_UNDERSTOOD, "ask for a path that begins with / and is written in ASCII")
    encodings = headers.getall("Transfer-Encoding", [])
    lengths = headers.getall("Content-Length", [])
    chunked = not encodings or (len(encodings) == 1 and encodings[0].strip().lower() == "chunked")
    if not chunked or (encodings and (lengths or version < _HTTP_1_1)) or len(lengths) > 1:
        raise Refusal(Code.NOT_UNDERSTOOD, "how long the body is must be said once: by Content-Length, or chunked")
    if len(headers.getall("Host", [])) > 1:
        raise Refusal(Code.NOT_UNDERSTOOD, "one Host header, please")


def sent_on(headers: Mapping[str, str], target: str = "/") -> CIMultiDict[str]:
    """The headers of a request as a replica gets them.

    A target with a host of its own has the word on what the host is (RFC 9112, 3.2.2).
    """
    kept = _without(headers, _ENDS_HERE)
    if not target.startswith("/"):
        kept["Host"] = URL(target).authority.rpartition("@")[2]
    return kept


def answered(headers: Mapping[str, str]) -> CIMultiDict[str]:
    """The headers of an answer as the client gets them."""
    return _without(headers, _HOP_BY_HOP)


def buffered(length: int | None, *, has_body: bool) -> int:
    """Bytes of a body that may lie here while its request is held; `length` is None where nobody says."""
    if not has_body:
        return 0
    return BUFFER_BYTES if length is None else min(length, BUFFER_BYTES)


def _without(headers: Any, dropped: frozenset[str]) -> CIMultiDict[str]:
    """Without these, without those that the header Connection names, and without what is no text."""
    named = {word.strip().lower() for line in headers.getall("Connection", ()) for word in line.split(",")}
    left = dropped | named
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in left and _is_text(value))


def _is_text(value: str) -> bool:
    """Whether a value can be written again: bytes that are not UTF-8 were read as halves of letters."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
