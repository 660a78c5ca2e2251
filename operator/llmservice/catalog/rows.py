"""Turning one row of a catalogue file into a value; every complaint names the file and the row."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from llmservice.errors import InvalidCatalogue

Row = TypeVar("Row")


def typed(row_type: type[Row], raw: Any, where: str, **given: Any) -> Row:
    """A row as a value of a frozen dataclass; lists become tuples. `given` adds fields the file does not spell out.

    Raises InvalidCatalogue for an unknown, missing or wrongly typed field.
    """
    values = {**mapping(raw, where), **given}
    known = {field.name: field for field in fields(row_type)}  # type: ignore[arg-type]
    for name in values.keys() - known.keys():
        raise InvalidCatalogue(where, f"unknown field {name}; known are {', '.join(known)}")
    for name, field in known.items():
        if name not in values and field.default is MISSING and field.default_factory is MISSING:
            raise InvalidCatalogue(where, f"{name} is missing")
    return row_type(**{name: _checked(values[name], known[name].type, f"{where}: {name}") for name in values})


def mapping(raw: Any, where: str) -> Mapping[str, Any]:
    """A mapping with names as keys; raises InvalidCatalogue."""
    if not isinstance(raw, Mapping) or not all(isinstance(key, str) for key in raw):
        raise InvalidCatalogue(where, "must be a mapping of names; quote names that look like numbers")
    return raw


def _checked(value: Any, declared: Any, where: str) -> Any:
    """A value against the declared type, as far as rows use types: scalars, tuples, mappings."""
    base = getattr(declared, "__origin__", declared)
    if base in {tuple, list}:
        if not isinstance(value, list | tuple):
            raise InvalidCatalogue(where, f"must be a list, not {value!r}")
        item = declared.__args__[0]
        return tuple(_checked(each, item, where) for each in value)
    if base is float and type(value) is int:
        return float(value)
    if base in {str, int, float} and type(value) is not base:
        raise InvalidCatalogue(where, f"must be of type {base.__name__}, not {value!r}")
    if base is Mapping:
        item = declared.__args__[1]
        return {name: _checked(each, item, f"{where}: {name}") for name, each in mapping(value, where).items()}
    return value
