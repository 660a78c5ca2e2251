"""An engine profile that `llmservice bench --save` wrote, or somebody by hand: YAML in, `EngineProfile` out."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from llmservice.errors import InvalidInput
from llmservice.simulation.engine_profile import MAX_BATCHED_TOKENS, EngineProfile

_LARGEST_BYTES = 2**20
_LONGEST_ERROR = 300
_LEAST_SECONDS = 1e-6
_MOST_SEQUENCES = 4096
_NEVER_FULL = 10**9
"""Tokens of KV cache where the profile does not say how many there are."""


def read_profile(path: Path) -> EngineProfile:
    """The profile of a file. Raises InvalidInput naming what is wrong with it."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_LARGEST_BYTES + 1)
        if len(text) > _LARGEST_BYTES:
            raise InvalidInput("InvalidProfile", f"{path}: is over 1 MiB: it is no profile")
        content = yaml.safe_load(text)
        return _profile(content)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        why = " ".join(str(error).split())[:_LONGEST_ERROR]
        raise InvalidInput("InvalidProfile", f"{path}: cannot be read: {why}") from error
    except KeyError as error:
        raise InvalidInput(
            "InvalidProfile", f"{path}: has no {error.args[0]}: give a file that `llmservice bench --save` wrote"
        ) from error
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(
            "InvalidProfile", f"{path}: {error}: give a file that `llmservice bench --save` wrote"
        ) from error


def _profile(content: Mapping[str, Any]) -> EngineProfile:
    points = [(int(tokens), _number(value) / 1e3) for tokens, value in content["step_milliseconds"]]
    return EngineProfile(
        name=str(content["name"])[:120],
        description=str(content["description"])[:240],
        devices=max(1, _whole("devices", content.get("devices", 1))),
        step_seconds=step_seconds(points),
        kv_read_seconds=_number(content.get("kv_read_nanoseconds_per_token", 0)) * 1e-9,
        attention_seconds=_number(content.get("attention_picoseconds_per_token_of_context", 0)) * 1e-12,
        kv_cache_tokens=max(1, int(_number(content.get("kv_cache_tokens", _NEVER_FULL)))),
        roofline=None,
        max_sequences=min(_MOST_SEQUENCES, max(1, _whole("max_sequences", content["max_sequences"]))),
    )


def step_seconds(points: Sequence[tuple[int, float]]) -> tuple[float, ...]:
    """Seconds of an iteration over 0 to `MAX_BATCHED_TOKENS` tokens, by straight lines between measured points.

    Beyond the last one time grows in proportion, as it does for prompts that fill the device. Raises ValueError where
    there are none.
    """
    ordered = sorted({tokens: seconds for tokens, seconds in points if tokens > 0}.items())
    if not ordered:
        raise ValueError("step_milliseconds has no point")
    table, place = list[float](), 0
    for tokens in range(MAX_BATCHED_TOKENS + 1):
        while place < len(ordered) and ordered[place][0] < tokens:
            place += 1
        table.append(max(_LEAST_SECONDS, _at(tokens, ordered, place)))
    return tuple(table)


def _at(tokens: int, ordered: Sequence[tuple[int, float]], place: int) -> float:
    """`place` is that of the first point which is not below."""
    if place == 0:
        return ordered[0][1]
    low, seconds = ordered[place - 1]
    if place == len(ordered):
        return seconds * tokens / low
    high, more = ordered[place]
    return seconds + (more - seconds) * (tokens - low) / (high - low)


def _whole(name: str, value: Any) -> int:
    try:
        return int(value)
    except (ValueError, OverflowError, TypeError) as error:
        raise ValueError(f"{name}: {value!r} is no whole number"[:_LONGEST_ERROR]) from error


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{value!r} is no number from 0 on")
    return value
