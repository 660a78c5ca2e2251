"""Asks a server that speaks OpenAI's protocol what a bench must know before its load: its model, its tokens."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from llmservice.bench.generator import KEY_VARIABLE
from llmservice.bench.prompts import Calibration, calibrated, prompt
from llmservice.cli.bench_server import Server
from llmservice.errors import InvalidInput, UsageError

_LONGEST_KEY = 4096
_LARGEST_KEYS = 2**20
_SHORT, _LONG = 8, 72
"""Words of the two prompts that a server's tokens are counted with."""


def key_of(path: Path | None) -> str:
    """The key in a file, else of the environment; empty for none. Raises UsageError.

    Of a folder, as a mounted Secret is one, the first entry counts; of an entry its first line that is a key, as the
    proxy reads them (spec.auth).
    """
    if path is None:
        return os.environ.get(KEY_VARIABLE, "").strip()
    try:
        files = sorted(each for each in path.iterdir() if not each.name.startswith(".")) if path.is_dir() else [path]
        key = next(filter(None, map(_key_in, files)), "")
    except OSError as error:
        raise UsageError("UnreadableKey", f"{path}: {error.strerror}", field="--key-file") from error
    except UnicodeDecodeError as error:
        raise UsageError("UnreadableKey", f"{path}: is no text", field="--key-file") from error
    if not key or len(key) > _LONGEST_KEY or not key.isprintable():
        raise UsageError("InvalidKey", f"{path}: has to hold a key in a line", field="--key-file")
    return key


def _key_in(file: Path) -> str:
    with file.open(encoding="utf-8") as content:
        lines = (line.strip() for line in content.read(_LARGEST_KEYS).splitlines())
    return next((line for line in lines if line and not line.startswith("#")), "")


async def calibration(server: Server, model: str, extra: Mapping[str, Any]) -> Calibration:
    """How many tokens the server counts for so many words: two short requests, which are a warm-up as well.

    Raises what the server has against such requests, before hundreds of them are sent.
    """
    counts = [await _prompt_tokens(server, model, extra, words) for words in (_SHORT, _LONG)]
    return calibrated((_SHORT, counts[0]), (_LONG, counts[1]))


async def _prompt_tokens(server: Server, model: str, extra: Mapping[str, Any], words: int) -> int:
    body = {
        "model": model,
        "max_tokens": 2,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": prompt(words, words, salt=secrets.randbits(32))}],
        **extra,
    }
    answer = await server.ask("POST", "/v1/chat/completions", body)
    for line in reversed(answer.decode(errors="replace").splitlines()):
        if line.startswith("data: {") and '"usage"' in line:
            usage = (_parsed(line.removeprefix("data: ")).get("usage")) or {}
            if isinstance(usage, dict) and isinstance(usage.get("prompt_tokens"), int):
                return int(usage["prompt_tokens"])
    raise InvalidInput(
        "NoUsage",
        f"{server.title} does not count its tokens when it streams (stream_options.include_usage): "
        "nothing can be measured",
    )


async def first_model(server: Server) -> str:
    """The model that the server lists first. Raises UsageError where it lists none."""
    listed = _parsed(await server.ask("GET", "/v1/models")).get("data")
    first = listed[0] if isinstance(listed, list) and listed else None
    name = first.get("id") if isinstance(first, dict) else None
    if not isinstance(name, str):
        raise UsageError("NoModel", f"{server.title} lists no model: name the one to ask for", field="--model")
    return name


def _parsed(answer: bytes | str) -> dict[str, Any]:
    try:
        content = orjson.loads(answer)
    except orjson.JSONDecodeError:
        return {}
    return content if isinstance(content, dict) else {}
