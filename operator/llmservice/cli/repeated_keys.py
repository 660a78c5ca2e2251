"""Keys that a YAML mapping has twice: parsers keep the last one, and the API server refuses them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

_MOST = 20
"""Of one document: who repeats more of them sees the others when these are gone."""


@dataclass(frozen=True, slots=True)
class RepeatedKey:
    """A key that was there before: the path of its field, where it stands again, and the line of the first."""

    field: str
    line: int
    column: int
    first_line: int


def repeated_keys(node: Any) -> tuple[RepeatedKey, ...]:
    """Those of a document, in the order of the text, 20 at most. What aliases share is looked at once."""
    return tuple(key for key, _ in zip(_below(node, "", set()), range(_MOST), strict=False))


def _below(node: Any, path: str, seen: set[int]) -> Iterator[RepeatedKey]:
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        yield from _in_mapping(node, path, seen)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _below(item, f"{path}[{index}]", seen)


def _in_mapping(node: yaml.MappingNode, path: str, seen: set[int]) -> Iterator[RepeatedKey]:
    lines: dict[str, int] = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        field = f"{path}.{name}".lstrip(".")
        mark = key.start_mark
        if name in lines and name != "<<":
            yield RepeatedKey(field, mark.line + 1, mark.column + 1, lines[name])
        lines.setdefault(name, mark.line + 1)
        yield from _below(value, field, seen)
