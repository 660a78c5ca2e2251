"""What `llmservice gateway-config` prints is taken by a real LiteLLM: names, keys, lengths, fallback, streams."""

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.gateway.conftest import CONTEXT, MASTER, Gateway

pytestmark = pytest.mark.gateway


def ask(gateway: Gateway, model: str, text: str = "hi", *, key: str = MASTER, stream: bool = False) -> tuple[int, str]:
    """Status and body of a chat completion."""
    body = {"model": model, "max_tokens": 4, "stream": stream, "messages": [{"role": "user", "content": text}]}
    return _call(gateway, "/v1/chat/completions", json.dumps(body).encode(), key)


def _call(gateway: Gateway, path: str, body: bytes | None = None, key: str = MASTER) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(gateway.address + path, body, headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_every_name_is_listed(gateway: Gateway) -> None:
    _, body = _call(gateway, "/v1/models")
    assert {each["id"] for each in json.loads(body)["data"]} == {"chat", "small"}


@pytest.mark.parametrize("model", ["chat", "small"])
def test_each_is_answered_by_its_own_server_with_its_own_key(gateway: Gateway, model: str) -> None:
    status, body = ask(gateway, model)
    answer: Any = json.loads(body)
    assert (status, answer["model"], answer["usage"]["completion_tokens"]) == (200, model, 4)


def test_a_stream_is_passed_on_to_its_end(gateway: Gateway) -> None:
    status, body = ask(gateway, "chat", stream=True)
    assert (status, body.count("data: ") > 4, body.rstrip().endswith("data: [DONE]")) == (200, True, True)


def test_who_has_not_the_proxys_key_is_refused(gateway: Gateway) -> None:
    status, _ = ask(gateway, "small", key="sk-other")
    assert 400 <= status < 500


def test_a_prompt_beyond_the_services_length_is_refused_by_the_proxy(gateway: Gateway) -> None:
    status, body = ask(gateway, "small", "word " * (2 * CONTEXT))
    assert (status, str(CONTEXT) in body) == (400, True)


def test_while_one_is_away_its_fallback_answers(gateway: Gateway) -> None:
    """The last of this file: `chat` is gone afterwards."""
    gateway.chat.terminate()
    gateway.chat.wait(30)
    status, body = ask(gateway, "chat")
    assert (status, json.loads(body)["model"]) == (200, "small")
