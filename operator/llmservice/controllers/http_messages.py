"""As much of HTTP as the operator's own endpoints need: a GET without a body, answered once per connection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import orjson

HEAD_BYTES = 16 * 1024
"""Room for a bearer token of many groups; what is longer is not read to its end."""

_PARTS_OF_A_REQUEST_LINE = 3


class Malformed(Exception):
    """The request cannot be understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request; `headers` by lower-case name, `address` is whose connection it came on."""

    method: str
    path: str
    headers: Mapping[str, str] = field(repr=False)
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole answer."""

    status: int = 200
    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)

    def head(self) -> bytes:
        """Status line and headers; the connection ends with the answer."""
        headers = {
            "Content-Type": self.content_type,
            "Content-Length": str(len(self.body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Connection": "close",
            **self.headers,
        }
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}", *(f"{k}: {v}" for k, v in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def request_from(head: bytes, address: str) -> Request:
    """The request whose head, at most `HEAD_BYTES` long, ends with an empty line. Raises `Malformed`.

    A header that is given twice counts as malformed: of two tokens nobody knows which one is meant.
    """
    first, *rest = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != _PARTS_OF_A_REQUEST_LINE or not words[2].startswith("HTTP/1."):
        raise Malformed
    headers: dict[str, str] = {}
    for line in rest:
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon or name in headers or name != name.strip():
            raise Malformed
        headers[name] = value.strip()
    return Request(method=words[0], path=words[1].partition("?")[0], headers=headers, address=address)


def told(status: int, message: str, **headers: str) -> Answer:
    """One line of text; names of headers are written with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status=status, body=f"{message}\n".encode(), headers=named)


def as_json(status: int, content: Any, **headers: str) -> Answer:
    """JSON that people can read; names of headers are written with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = orjson.dumps(content, option=orjson.OPT_INDENT_2, default=str)
    return Answer(status=status, body=body, content_type="application/json", headers=named)
