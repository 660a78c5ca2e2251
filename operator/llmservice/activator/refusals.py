"""What is answered in place of a replica: status, OpenAI's error body, and when to try again."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from math import ceil

import orjson


class Code(StrEnum):
    """Why a request got no answer of a replica."""

    HELD_TOO_MANY = "held_too_many"
    HELD_TOO_LONG = "held_too_long"
    START_FAILED = "start_failed"
    ACTIVATOR_FULL = "activator_full"
    ASLEEP = "asleep"
    SHUTTING_DOWN = "shutting_down"
    REPLICA_FAILED = "replica_failed"
    BODY_STALLED = "body_stalled"
    NOT_SUPPORTED = "not_supported"
    NOT_UNDERSTOOD = "not_understood"


_STATUS = {
    Code.REPLICA_FAILED: HTTPStatus.BAD_GATEWAY,
    Code.BODY_STALLED: HTTPStatus.REQUEST_TIMEOUT,
    Code.NOT_SUPPORTED: HTTPStatus.NOT_IMPLEMENTED,
    Code.NOT_UNDERSTOOD: HTTPStatus.BAD_REQUEST,
}
_TYPE = {
    HTTPStatus.SERVICE_UNAVAILABLE: "service_unavailable",
    HTTPStatus.BAD_GATEWAY: "bad_gateway",
}
_USUAL_START_SECONDS = 30
"""Until a start has been seen."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    status: HTTPStatus
    body: bytes
    headers: Mapping[str, str]

    def last(self) -> bytes:
        """As it is written on a connection that ends with it."""
        fields = {**self.headers, "Server": "llmservice", "Content-Length": str(len(self.body)), "Connection": "close"}
        lines = [f"HTTP/1.1 {self.status.value} {self.status.phrase}", *(f"{key}: {fields[key]}" for key in fields)]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


class Refusal(Exception):
    """A request is answered by the activator itself, with an error. `message` is a sentence for the client."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def refused(refusal: Refusal, start_seconds: float | None = None) -> Answer:
    """The answer of a refusal. A 503 says when to come back: after what the last start took, or at once."""
    status = _STATUS.get(refusal.code, HTTPStatus.SERVICE_UNAVAILABLE)
    kind = _TYPE.get(status, "invalid_request_error")
    error = {"message": refusal.message, "type": kind, "param": None, "code": refusal.code.value}
    headers = {"Content-Type": "application/json"}
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(_retry_after(refusal.code, start_seconds))
    return Answer(status, orjson.dumps({"error": error}), headers)


def _retry_after(code: Code, start_seconds: float | None) -> int:
    if code is Code.SHUTTING_DOWN:
        return 1
    return max(1, ceil(_USUAL_START_SECONDS if start_seconds is None else start_seconds))
