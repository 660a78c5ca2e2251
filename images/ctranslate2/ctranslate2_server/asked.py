"""A request's body as a value; whatever is wrong with it is told with the field."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ctranslate2_server.errors import BadRequest, UnknownModel

MOST_MESSAGES = 10_000
_MOST_STOPS, _LONGEST_STOP = 8, 1000
_UNSUPPORTED = (
    *("tools", "functions", "logprobs", "top_logprobs", "logit_bias", "suffix", "echo", "audio"),
    *("presence_penalty", "frequency_penalty", "prompt_logprobs", "best_of"),
)
"""Fields that would change the answer, and cannot be honoured. What is empty, zero or false changes nothing."""

Messages = tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is wanted. Either `prompt` or `messages` is set; `max_tokens` is 0 for as many as there is room for.

    A `top_k` of 1 takes the likeliest token each time, 0 draws from all. `ignore_eos` goes on until `max_tokens`.
    """

    model: str
    prompt: str = ""
    messages: Messages = ()
    max_tokens: int = 0
    top_k: int = 0
    top_p: float = 1.0
    temperature: float = 1.0
    repetition_penalty: float = 1.0
    stop: tuple[str, ...] = ()
    stream: bool = False
    include_usage: bool = False
    ignore_eos: bool = False


def asked_in(content: bytes, names: Sequence[str], *, chat: bool) -> Asked:
    """The request in a body; raises BadRequest or UnknownModel."""
    body = _object(content)
    _check_supported(body)
    model = _model(body, names)
    stream = _flag(body, "stream")
    options = body.get("stream_options") or {}
    if not isinstance(options, dict):
        raise BadRequest("must be an object", "stream_options")
    return Asked(
        model=model,
        prompt="" if chat else _prompt(body),
        messages=_messages(body) if chat else (),
        max_tokens=_max_tokens(body, chat=chat),
        stop=_stop(body.get("stop")),
        stream=stream,
        include_usage=_flag(options, "include_usage"),
        ignore_eos=_flag(body, "ignore_eos"),
        repetition_penalty=_number(body, "repetition_penalty", 1.0, least=0.1, most=10.0),
        **_sampling(body),
    )


def _object(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadRequest("the body is no JSON") from error
    if not isinstance(body, dict):
        raise BadRequest("the body must be an object")
    return body


def _check_supported(body: dict[str, Any]) -> None:
    for field in _UNSUPPORTED:
        if body.get(field):
            raise BadRequest("is not supported by this server", field)
    if body.get("n") not in (None, 1):
        raise BadRequest("must be 1: one answer for each request", "n")
    wanted = body.get("response_format")
    if wanted is not None and wanted != {"type": "text"}:
        raise BadRequest('only {"type": "text"} is supported', "response_format")


def _model(body: dict[str, Any], names: Sequence[str]) -> str:
    name = body.get("model", names[0])
    if not isinstance(name, str):
        raise BadRequest("must be text", "model")
    if name not in names:
        raise UnknownModel(f"no such model here; served: {', '.join(names)}", "model")
    return name


def _prompt(body: dict[str, Any]) -> str:
    prompt = body.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    if not isinstance(prompt, str) or not prompt:
        raise BadRequest(
            "must be one text that is not empty; token numbers and several prompts are not supported", "prompt"
        )
    return prompt


def _messages(body: dict[str, Any]) -> Messages:
    given = body.get("messages")
    if not isinstance(given, list) or not 0 < len(given) <= MOST_MESSAGES:
        raise BadRequest(f"must be a list of 1 to {MOST_MESSAGES} messages", "messages")
    return tuple(_message(each, f"messages[{number}]") for number, each in enumerate(given))


def _message(given: object, field: str) -> dict[str, Any]:
    if not isinstance(given, dict) or not isinstance(given.get("role"), str):
        raise BadRequest("must be an object with a role", field)
    return {**given, "content": _text(given.get("content"), f"{field}.content")}


def _text(content: object, field: str) -> str:
    """A text, or a list of parts of which each is a text."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise BadRequest("must be text, or a list of parts", field)
    return "".join(_part(part, f"{field}[{number}]") for number, part in enumerate(content))


def _part(part: object, field: str) -> str:
    if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    raise BadRequest("only parts of the type text are supported", field)


def _max_tokens(body: dict[str, Any], *, chat: bool) -> int:
    newer = "max_completion_tokens"
    field = newer if chat and body.get(newer) is not None else "max_tokens"
    value = body.get(field)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise BadRequest("must be a whole number of at least 1", field)
    return value


def _sampling(body: dict[str, Any]) -> dict[str, Any]:
    temperature = _number(body, "temperature", 1.0, least=0.0, most=2.0)
    top_p = _number(body, "top_p", 1.0, least=0.0, most=1.0)
    top_k = int(_number(body, "top_k", 0, least=-1, most=1_000_000))
    greedy = temperature == 0 or top_p == 0
    return {
        "temperature": temperature or 1.0,
        "top_p": top_p or 1.0,
        "top_k": 1 if greedy else max(0, top_k),
    }


def _number(body: dict[str, Any], field: str, usual: float, *, least: float, most: float) -> float:
    value = body.get(field)
    if value is None:
        return usual
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not least <= value <= most:
        raise BadRequest(f"must be a number from {least:g} to {most:g}", field)
    return value


def _flag(body: dict[str, Any], field: str) -> bool:
    value = body.get(field)
    if value is not None and not isinstance(value, bool):
        raise BadRequest("must be true or false", field)
    return bool(value)


def _stop(given: object) -> tuple[str, ...]:
    several = [given] if isinstance(given, str) else given or []
    if not isinstance(several, list) or len(several) > _MOST_STOPS:
        raise BadRequest(f"must be a text, or a list of at most {_MOST_STOPS}", "stop")
    for each in several:
        if not isinstance(each, str) or not 0 < len(each) <= _LONGEST_STOP:
            raise BadRequest(f"must be texts of 1 to {_LONGEST_STOP} characters", "stop")
    return tuple(several)
