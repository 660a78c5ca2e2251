"""Numbers and words about a model, as strangers write them: plausible ones are taken, others refused by name."""

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any

from llmservice.models.model_facts import ModelFacts
from llmservice.untrusted.patterns import compiled
from llmservice.untrusted.texts import cut, printable

LONGEST_WORD = 128
_LONGEST_LIST = 10_000
_LONGEST_SHOWN = 40
_WORD = compiled(r"[A-Za-z0-9][-+._A-Za-z0-9]*")
_LIMITS = {
    "longest_context": 2**30,
    "layers": 10_000,
    "sliding_layers": 10_000,
    "linear_layers": 10_000,
    "dense_layers": 10_000,
    "count": 100_000,
    "active": 100_000,
    "shared": 10_000,
    "parameters": 2**50,
    "file_bytes": 2**53,
    "quantization_bits": 64,
}
"""The largest value of each fact that is believed; far beyond the largest models of 2026."""
_USUAL_LIMIT = 2**26
"""Of widths, heads and vocabularies."""


class MalformedModel(ValueError):
    """What is said of a model cannot be true or cannot be read; the message names the field."""


def limit_of(fact: str) -> int:
    """The largest value that is believed of this field of ModelFacts."""
    return _LIMITS.get(fact, _USUAL_LIMIT)


def count(document: Mapping[str, Any], fact: str, *names: str) -> int:
    """The number in the first of these fields that has one, of a list its largest; 0 where none has.

    Null, infinity, NaN and what is negative mean that nothing is said. Raises MalformedModel for what is no number and
    for one that is too large for this fact.
    """
    return next((number for name in names if (number := _count(document.get(name), name, limit_of(fact)))), 0)


def word(value: object) -> str:
    """A name such as `LlamaForCausalLM` or `compressed-tensors`; empty for anything that is none."""
    return value if isinstance(value, str) and len(value) <= LONGEST_WORD and _WORD.matches(value) else ""


def implausible_in(facts: Any) -> str:
    """The first field of ModelFacts, or of a part of it, whose value cannot be true; empty where all can."""
    for field in fields(facts):
        value = getattr(facts, field.name)
        if is_dataclass(value) and (inner := implausible_in(value)):
            return f"{field.name}.{inner}"
        if isinstance(value, int) and not 0 <= value <= limit_of(field.name):
            return field.name
        if isinstance(value, str) and value and not word(value):
            return field.name
    return ""


def implausible(facts: ModelFacts) -> str:
    """What cannot be, as a sentence without an end; empty when nothing stands out."""
    if field := implausible_in(facts):
        return f"{field} is {_shown(attrgetter(field)(facts))}, which no model has"
    if facts.sliding_layers + facts.linear_layers > facts.layers:
        return f"sliding_layers and linear_layers are more than the {facts.layers} layers"
    if facts.experts and facts.experts.dense_layers > facts.layers:
        return f"experts.dense_layers are more than the {facts.layers} layers"
    if facts.sliding_layers and not facts.sliding_window:
        return "sliding_layers have no sliding_window"
    return ""


def json_object(data: bytes | str, what: str, at_most: int) -> dict[str, Any]:
    """The JSON object in `data`; NaN and Infinity, which Python writes, are read. Raises MalformedModel."""
    if len(data) > at_most:
        raise MalformedModel(f"{what} has more than {at_most} bytes")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MalformedModel(f"{what} is not JSON: {_shown(error)}") from error
    if not isinstance(found, dict):
        raise MalformedModel(f"{what} is not a JSON object")
    return found


def part(document: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """The first of these fields that holds an object; an empty one where none does."""
    return next((document[name] for name in names if isinstance(document.get(name), dict)), {})


def _count(value: object, name: str, at_most: int) -> int:
    if isinstance(value, list):
        return max((_number(item, name, at_most) for item in value[:_LONGEST_LIST]), default=0)
    return _number(value, name, at_most)


def _number(value: object, name: str, at_most: int) -> int:
    if value is None or isinstance(value, bool):
        return 0
    if not isinstance(value, int | float):
        raise MalformedModel(f"{name} is {_shown(value)}, not a number")
    if isinstance(value, float) and not math.isfinite(value):
        return 0
    if value > at_most:
        raise MalformedModel(f"{name} is {_shown(value)}, more than any model has")
    return max(0, int(value))


def _shown(value: object) -> str:
    """A few letters of a stranger's value. A number of thousands of digits is not written out: that takes long."""
    return "a huge number" if isinstance(value, int) and value > 2**64 else cut(printable(str(value)), _LONGEST_SHOWN)
