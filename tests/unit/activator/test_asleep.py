"""What is answered without waking anybody, and how refusals look."""

from http import HTTPStatus

import orjson
import pytest

from llmservice.activator.asleep import answer_asleep
from llmservice.activator.refusals import Code, Refusal, refused
from llmservice.activator.slices import Activation, Served

CHAT = Served(
    namespace="default",
    name="chat",
    uid="1",
    since="",
    port=20_007,
    in_path=True,
    activation=Activation(models=("chat", "org/model")),
)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/anything"])
def test_every_post_is_held(path: str) -> None:
    assert answer_asleep(CHAT, "POST", path) is None


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "path", ["/health", "/healthz", "/ping", "/v1/models", "/v1/models/chat", "/v1/models/org/model"]
)
def test_health_and_models_wake_nobody(method: str, path: str) -> None:
    answer = answer_asleep(CHAT, method, path)
    assert answer is not None
    assert answer.status == HTTPStatus.OK


def test_models_are_listed_as_openai_does() -> None:
    answer = answer_asleep(CHAT, "GET", "/v1/models")
    assert answer is not None
    told = orjson.loads(answer.body)
    assert told["object"] == "list"
    assert [(each["id"], each["object"]) for each in told["data"]] == [("chat", "model"), ("org/model", "model")]


def test_a_model_that_is_not_there_is_not_found() -> None:
    answer = answer_asleep(CHAT, "GET", "/v1/models/other")
    assert answer is not None
    assert answer.status == HTTPStatus.NOT_FOUND
    assert orjson.loads(answer.body)["error"]["code"] == "model_not_found"


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/metrics"), ("GET", "/"), ("DELETE", "/v1/models/chat"), ("PUT", "/x")]
)
def test_all_else_is_told_that_the_service_sleeps(method: str, path: str) -> None:
    with pytest.raises(Refusal) as error:
        answer_asleep(CHAT, method, path)
    assert error.value.code == Code.ASLEEP
    assert "llmservice wake chat" in error.value.message


@pytest.mark.parametrize(
    ("code", "status", "retry_after"),
    [
        (Code.HELD_TOO_MANY, 503, "43"),
        (Code.SHUTTING_DOWN, 503, "1"),
        (Code.REPLICA_FAILED, 502, None),
        (Code.BODY_STALLED, 408, None),
        (Code.NOT_SUPPORTED, 501, None),
        (Code.NOT_UNDERSTOOD, 400, None),
    ],
)
def test_a_refusal_says_why_and_when_to_come_back(code: Code, status: int, retry_after: str | None) -> None:
    answer = refused(Refusal(code, "said"), 42.1)
    assert (answer.status, answer.headers.get("Retry-After")) == (status, retry_after)
    error = orjson.loads(answer.body)["error"]
    assert (error["code"], error["message"]) == (code, "said")


@pytest.mark.parametrize(("start_seconds", "retry_after"), [(None, "30"), (0.0, "1"), (0.2, "1"), (90, "90")])
def test_when_to_come_back_is_what_a_start_takes(start_seconds: float | None, retry_after: str) -> None:
    assert refused(Refusal(Code.ASLEEP, ""), start_seconds).headers["Retry-After"] == retry_after
