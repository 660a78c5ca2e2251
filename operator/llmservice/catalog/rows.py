"""Parses a row of a catalogue file into a dataclass; errors name the file and the row."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from llmservice.errors import InvalidCatalogue

Row = TypeVar("Row")

ENGINES_FILE = "engines.yaml"
ACCELERATORS_FILE = "accelerators.yaml"
MODELS_FILE = "models.yaml"
PROXY_FILE = "proxy.yaml"
"""The tables of a catalogue, by their keys in an overlay. Of those shipped, each engine has a file of its own."""

_SENTENCES = {
    "missing": "is missing",
    "string_type": "must be a string: put it in quotes",
    "int_type": "must be a whole number, without quotes",
    "float_type": "must be a number, without quotes",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping with string keys",
}
"""By the type of pydantic's error; other errors keep pydantic's message."""


def typed(row_type: type[Row], raw: Any, where: str, **given: Any) -> Row:
    """A row as a value of a frozen dataclass; lists become tuples. `given` adds fields the file does not spell out.

    Raises InvalidCatalogue for an unknown, missing or wrongly typed field.
    """
    values = {**mapping(raw, where), **given}
    known = [field.name for field in fields(row_type)]  # type: ignore[arg-type]
    for name in values.keys() - known:
        raise InvalidCatalogue(where, f"unknown field {name}; known fields: {', '.join(known)}")
    try:
        # Strict validation of JSON accepts a list for a tuple and converts nothing else.
        reader: TypeAdapter[Row] = _reader(row_type)  # type: ignore[arg-type]  # a class is hashable
        row = reader.validate_json(orjson.dumps(values, default=sorted), strict=True)
    except ValidationError as error:
        raise InvalidCatalogue(where, _message(error.errors(include_url=False)[0])) from None
    except TypeError as error:
        raise InvalidCatalogue(where, f"unknown type of value: {error}; quote names and dates") from None
    return row


def mapping(raw: Any, where: str) -> Mapping[str, Any]:
    """A mapping with string keys; raises InvalidCatalogue."""
    if not isinstance(raw, Mapping) or not all(isinstance(key, str) for key in raw):
        raise InvalidCatalogue(where, "must be a mapping with string keys; quote keys that look like numbers")
    return raw


@cache
def _reader(row_type: Any) -> TypeAdapter[Any]:
    return TypeAdapter(row_type)


def _message(problem: ErrorDetails) -> str:
    field = ": ".join(str(part) for part in problem["loc"])
    return f"{field}: {_SENTENCES.get(problem['type'], problem['msg'])}"
