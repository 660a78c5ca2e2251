"""The chart's values as a table, from the comments in values.yaml and the types in its schema."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One value: its dotted path, what is written in values.yaml, and the comment above it."""

    path: str
    default: Any
    meaning: str


def values_in(text: str) -> list[Value]:
    """Every leaf of values.yaml, in its order. A mapping with a comment is a leaf, one without holds further ones."""
    root = yaml.compose(text)
    if not isinstance(root, yaml.MappingNode):
        raise TypeError("values.yaml: must be a mapping")
    return list(_leaves(root, text.splitlines(), ""))


def values_table(text: str, schema: Schema) -> str:
    """The table as Markdown."""
    rows = [
        f"| `{value.path}` | {_kind(_part(schema, value.path))} | `{json.dumps(value.default)}` | {value.meaning} |"
        for value in values_in(text)
    ]
    return "\n".join(["| value | type | default | meaning |", "|---|---|---|---|", *rows]) + "\n"


def _leaves(node: yaml.MappingNode, lines: Sequence[str], prefix: str) -> Iterator[Value]:
    for key, value in node.value:
        meaning, path = _comment_above(lines, key.start_mark.line), f"{prefix}{key.value}"
        if isinstance(value, yaml.MappingNode) and not meaning:
            yield from _leaves(value, lines, f"{path}.")
        else:
            yield Value(path=path, default=yaml.safe_load(yaml.serialize(value)), meaning=meaning)


def _comment_above(lines: Sequence[str], line: int) -> str:
    words: list[str] = []
    while line > 0 and (text := lines[line - 1].strip()).startswith("#"):
        words.insert(0, text.removeprefix("#").strip())
        line -= 1
    return " ".join(words).replace("|", "\\|")


def _part(schema: Schema, path: str) -> Schema:
    for name in path.split("."):
        schema = schema["properties"][name]
    return schema


def _kind(part: Schema) -> str:
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    kind = str(part["type"])
    items = part.get("items", {}).get("type")
    return f"list of {items}s" if items else kind
