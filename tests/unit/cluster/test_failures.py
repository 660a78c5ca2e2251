from typing import Any

import orjson
import pytest

from llmservice.cluster.transport.failures import failure_in_stream, failure_of
from llmservice.errors import (
    Conflict,
    Expired,
    NotFound,
    OperatorError,
    Refused,
    Terminating,
    Unauthorized,
    Unavailable,
)
from tests.unit.cluster.fake_api_server import a_status


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (301, Unavailable),
        (400, Refused),
        (401, Unauthorized),
        (403, Refused),
        (404, NotFound),
        (405, Refused),
        (408, Unavailable),
        (409, Conflict),
        (410, Expired),
        (415, Refused),
        (422, Refused),
        (429, Unavailable),
        (500, Unavailable),
        (503, Unavailable),
        (504, Unavailable),
    ],
)
def test_each_status_is_one_of_our_errors(status: int, error: type[OperatorError]) -> None:
    assert type(failure_of(status, b"")) is error


def test_keeps_the_words_and_the_reason_of_the_server() -> None:
    body = orjson.dumps(a_status(403, 'pods "p" is forbidden: exceeded quota', "Forbidden"))
    error = failure_of(403, body)

    assert (error.reason, error.message) == ("Forbidden", 'pods "p" is forbidden: exceeded quota')


def test_a_namespace_that_is_going_is_told_from_a_refusal() -> None:
    words = "unable to create new content in namespace ml because it is being terminated"
    assert type(failure_of(403, orjson.dumps(a_status(403, words, "Forbidden")))) is Terminating


def test_words_of_a_webhook_are_printable_and_in_bounds() -> None:
    body = orjson.dumps(a_status(403, "denied: \x1b[2J token=PLANTED" + "x" * 20_000, "R" * 500))
    error = failure_of(403, body)
    assert error.message.startswith("denied:  token=[hidden]")
    assert (len(error.message) < 8300, len(error.reason) < 200) == (True, True)
    assert "\\xff" in failure_of(502, b"\xff").message


@pytest.mark.parametrize(
    "details", [{"causes": ["x"]}, {"causes": 7}, {"causes": {"a": 1}}, {"retryAfterSeconds": 1e300}]
)
def test_details_of_any_shape_are_read(details: dict[str, Any]) -> None:
    assert isinstance(failure_of(422, orjson.dumps({"code": 422, "details": details})), Refused)


def test_quotes_an_answer_that_is_no_status() -> None:
    assert "502: <html>Bad gateway" in failure_of(502, b"<html>Bad gateway</html>\n").message


@pytest.mark.parametrize("before", range(200, 320, 7))
def test_of_an_answer_that_is_no_status_no_half_of_a_secret_stays(before: int) -> None:
    """Wherever the excerpt ends: in the password, or before the @ by which it is known."""
    body = b"<p>" + b"x" * before + b" postgres://root:planted-pass-word@db/ " + b"y" * 5000
    assert "planted" not in failure_of(502, body).message


def test_a_uid_that_differs_is_a_conflict() -> None:
    cause = {"field": "metadata.uid", "message": "field is immutable"}
    body = orjson.dumps(a_status(422, "is invalid", "Invalid", causes=[cause]))

    assert isinstance(failure_of(422, body), Conflict)


@pytest.mark.parametrize(
    "words",
    [
        "failed to create typed patch object: .status.plan: field not declared in schema",
        '.spec.containers[name="a"].volumeMounts: duplicate entries for key [mountPath="/cache"]',
        "etcdserver: request is too large",
        "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2210301 vs. 2097152)",
    ],
    ids=[
        "a field the installed schema lacks",
        "the same key twice",
        "too large for etcd",
        "too large to be sent to it",
    ],
)
def test_a_500_that_no_other_try_would_mend_is_a_refusal(words: str) -> None:
    assert isinstance(failure_of(500, orjson.dumps(a_status(500, words))), Refused)


@pytest.mark.parametrize(
    ("header", "details", "seconds"),
    [("7", {}, 7.0), ("", {"retryAfterSeconds": 3}, 3.0), ("", {}, 0.0), ("Fri, 31 Dec 2027", {}, 0.0)],
)
def test_tells_the_pause_the_server_asks_for(header: str, details: dict[str, Any], seconds: float) -> None:
    error = failure_of(429, orjson.dumps(a_status(429, **details)), header)

    assert isinstance(error, Unavailable)
    assert error.retry_after_seconds == seconds


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (a_status(410, "too old resource version", "Expired"), Expired),
        (a_status(500, "etcdserver: request timed out"), Unavailable),
        ({"kind": "Status"}, Unavailable),
        ("nonsense", Unavailable),
    ],
)
def test_an_error_in_a_stream_is_one_of_our_errors(content: object, error: type[OperatorError]) -> None:
    assert type(failure_in_stream(content)) is error
