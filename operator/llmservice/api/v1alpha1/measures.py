"""How many bytes a value may have as JSON, by its schema: as a CEL expression, and counted in Python.

Small parts count as large as they can be; texts and lists in other lists are measured. A text counts four bytes for
each character, which is the most that UTF-8 takes, or one where its form allows nothing beyond ASCII. What JSON
escapes is not counted.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from llmservice.api.v1alpha1.base import VALIDATIONS

_COUNTED_AT_MOST = 400
"""A list whose elements have at most so many bytes is counted, not measured: that is cheap, and close enough."""
_FIXED_AT_MOST = 64
_UTF8 = 4
_TEXT_FORM = re.compile(r"self\.matches\(r'\^\(\?:(.*)\)\$'\).*")
_KEY_FORM = re.compile(r"self\.all\(key, key\.matches\(r'\^\(\?:(.*)\)\$'\).*\)")
_CLASS = re.compile(r"\[(?:\\.|[^\]\\])+\]")


class Measure(Protocol):
    """The size of one part: `fixed` bytes, and what depends on the value."""

    @property
    def fixed(self) -> int:
        """Bytes that count for every value."""
        ...

    def cel(self, value: str) -> str:
        """What comes on top of `fixed`, as a CEL expression over the value; empty when nothing does."""
        ...

    def of(self, value: Any) -> int:
        """What comes on top of `fixed`, for a JSON value of this schema."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """A part that counts as large as it can be."""

    fixed: int

    def cel(self, value: str) -> str:  # noqa: ARG002
        """Nothing depends on the value."""
        return ""

    def of(self, value: Any) -> int:  # noqa: ARG002
        """Nothing depends on the value."""
        return 0


@dataclass(frozen=True, slots=True)
class Counted:
    """A text by its characters; a list or a map by its elements."""

    each: int
    fixed: int = 2

    def cel(self, value: str) -> str:
        """So many bytes for each."""
        return f"{value}.size()" + (f" * {self.each}" if self.each > 1 else "")

    def of(self, value: Any) -> int:
        """So many bytes for each."""
        return self.each * len(value)


@dataclass(frozen=True, slots=True)
class Measured:
    """A list, or a map by its keys, whose elements are measured one by one."""

    item: Measure
    each: int
    key: int = 0
    fixed: int = 2

    def cel(self, value: str) -> str:
        """The sum over the elements."""
        name = f"each{value.count('each')}"
        element = f"{value}[{name}]" if self.key else name
        size = self.item.cel(element)
        key = f"{name}.size()" + (f" * {self.key}" if self.key > 1 else "") if self.key else ""
        return f"{value}.map({name}, {' + '.join(filter(None, (str(self.each), key, size)))}).sum()"

    def of(self, value: Any) -> int:
        """The sum over the elements."""
        items = value.values() if isinstance(value, Mapping) else value
        keys = self.key * sum(map(len, value)) if isinstance(value, Mapping) else 0
        return keys + sum(self.each + self.item.of(item) for item in items)


@dataclass(frozen=True, slots=True)
class Fields:
    """An object: the names of all its fields are fixed, and so is what cannot be large."""

    fixed: int
    parts: Mapping[str, Measure]
    required: frozenset[str]

    def cel(self, value: str) -> str:
        """The sum over the fields that depend on the value."""
        return " + ".join(self._part(f"{value}.{name}", name, part) for name, part in self.parts.items())

    def of(self, value: Any) -> int:
        """The sum over the fields that depend on the value."""
        return sum(part.of(value[name]) for name, part in self.parts.items() if name in value)

    def _part(self, field: str, name: str, part: Measure) -> str:
        return part.cel(field) if name in self.required else f"(has({field}) ? {part.cel(field)} : 0)"


def measure(schema: Mapping[str, Any], *, within_list: bool = False) -> Measure:
    """The measure of a part of a structural schema."""
    if "properties" in schema:
        return _fields(schema, within_list=within_list)
    if "additionalProperties" in schema:
        item = measure(schema["additionalProperties"], within_list=True)
        return Measured(item, item.fixed + 4, key=_bytes_of(_KEY_FORM, schema))
    if schema.get("type") == "array":
        return _list_of(schema["items"])
    return _scalar(schema, within_list=within_list)


def _fields(schema: Mapping[str, Any], *, within_list: bool) -> Fields:
    parts = {name: measure(part, within_list=within_list) for name, part in schema["properties"].items()}
    fixed = 2 + sum(len(name) + 4 + part.fixed for name, part in parts.items())
    depending = {name: part for name, part in parts.items() if part.cel("x")}
    return Fields(fixed, depending, frozenset(schema.get("required", ())))


def _list_of(item_schema: Mapping[str, Any]) -> Measure:
    whole = measure(item_schema)
    if not whole.cel("x") and whole.fixed < _COUNTED_AT_MOST:
        return Counted(whole.fixed + 1)
    item = measure(item_schema, within_list=True)
    return Measured(item, item.fixed + 1)


def _scalar(schema: Mapping[str, Any], *, within_list: bool) -> Measure:
    if "enum" in schema:
        return Fixed(2 + max(map(len, schema["enum"])))
    if schema.get("type") == "boolean":
        return Fixed(len("false"))
    if schema.get("type") == "integer":
        return Fixed(max(len(str(schema[bound])) for bound in ("minimum", "maximum")))
    each, longest = _bytes_of(_TEXT_FORM, schema), schema["maxLength"]
    if within_list and each * longest > _FIXED_AT_MOST:
        return Counted(each)
    return Fixed(2 + each * longest)


def _bytes_of(form: re.Pattern[str], schema: Mapping[str, Any]) -> int:
    """Bytes of a character of a text, or a key, of this form."""
    rules: Sequence[Mapping[str, str]] = schema.get(VALIDATIONS, ())
    patterns = [match[1] for rule in rules if (match := form.fullmatch(rule["rule"]))]
    return 1 if any(map(_is_ascii, patterns)) else _UTF8


def _is_ascii(pattern: str) -> bool:
    """Whether a pattern of literals and bracketed classes matches nothing beyond ASCII."""
    beside = _CLASS.sub("", pattern).replace("\\.", "")
    return pattern.isascii() and "." not in beside and "\\" not in beside and "[^" not in pattern
