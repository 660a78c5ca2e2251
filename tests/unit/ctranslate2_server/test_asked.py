import json
from typing import Any

import pytest

from ctranslate2_server.asked import Asked, asked_in
from ctranslate2_server.errors import BadRequest, Refused, UnknownModel

NAMES = ("chat", "other")


def chat(**fields: Any) -> Asked:
    body = {"messages": [{"role": "user", "content": "hello"}], **fields}
    return asked_in(json.dumps(body).encode(), NAMES, chat=True)


def completion(**fields: Any) -> Asked:
    return asked_in(json.dumps({"prompt": "hello", **fields}).encode(), NAMES, chat=False)


def test_what_is_left_out_is_usual() -> None:
    asked = completion()

    assert (asked.model, asked.prompt, asked.max_tokens, asked.stream) == ("chat", "hello", 0, False)
    assert (asked.temperature, asked.top_p, asked.top_k) == (1.0, 1.0, 0)


def test_no_temperature_means_the_likeliest_token_each_time() -> None:
    asked = completion(temperature=0)

    assert (asked.top_k, asked.temperature) == (1, 1.0)


def test_parts_of_a_message_are_one_text() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]

    assert chat(messages=[{"role": "user", "content": parts}]).messages[0]["content"] == "ab"


def test_the_newer_name_of_the_limit_counts_in_chats() -> None:
    assert chat(max_completion_tokens=7, max_tokens=9).max_tokens == 7
    assert completion(max_tokens=9).max_tokens == 9


def test_one_stop_string_is_a_list_of_one() -> None:
    assert completion(stop="\n").stop == ("\n",)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_tokens", 0),
        ("max_tokens", "many"),
        ("max_tokens", True),
        ("temperature", 3),
        ("temperature", "hot"),
        ("top_p", -1),
        ("n", 2),
        ("stop", ["a"] * 9),
        ("stop", [""]),
        ("stop", 5),
        ("stream", "yes"),
        ("stream_options", "usage"),
        ("model", 5),
        ("prompt", ["a", "b"]),
        ("prompt", [1, 2]),
        ("prompt", ""),
        ("logprobs", 3),
        ("response_format", {"type": "json_object"}),
    ],
)
def test_what_is_wrong_is_told_with_its_field(field: str, value: object) -> None:
    with pytest.raises(BadRequest) as refused:
        completion(**{field: value})

    assert refused.value.field == field
    assert refused.value.document()["error"]["param"] == field  # type: ignore[index]


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        ([], "messages"),
        ("hello", "messages"),
        (["hello"], "messages[0]"),
        ([{"content": "hello"}], "messages[0]"),
        ([{"role": "user", "content": 5}], "messages[0].content"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "messages[0].content[0]"),
    ],
)
def test_messages_are_told_by_their_number(messages: object, field: str) -> None:
    with pytest.raises(BadRequest) as refused:
        chat(messages=messages)

    assert refused.value.field == field


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"5", b"\xff", b"[" * 100_000])
def test_what_is_no_object_is_refused(content: bytes) -> None:
    with pytest.raises(BadRequest):
        asked_in(content, NAMES, chat=True)


def test_another_model_is_not_here() -> None:
    with pytest.raises(UnknownModel) as refused:
        completion(model="third")

    assert isinstance(refused.value, Refused)
    assert refused.value.status == 404
    assert "other" in refused.value.message
