"""YAML and JSON documents whose fields know their line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from llmservice.catalog.yaml_values import ValuesLoader
from llmservice.cli.bounds import check_bounds
from llmservice.cli.field_paths import parts_of


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a text, or one item of a List.

    `number` is that of the document in the text, from 1; `node` is PyYAML's.
    """

    number: int
    value: Any
    node: Any

    def place(self, field: str = "") -> tuple[int, int]:
        """Line and column, from 1, of a field such as "spec.gpu.type"; of the nearest that is there where it is not."""
        node, mark = self.node, self.node.start_mark
        for part in parts_of(field):
            found = _below(node, part)
            if found is None:
                break
            node, mark = found
        return mark.line + 1, mark.column + 1


def located_documents(text: str) -> Iterator[Document]:
    """Every document, of a List every item; empty ones are left out. Raises yaml.YAMLError.

    JSON is a subset of YAML.
    """
    check_bounds(text)
    loader = ValuesLoader(text)
    try:
        number = 0
        while loader.check_node():
            number += 1
            node = loader.get_node()
            yield from _items(number, loader.construct_document(node), node)
    finally:
        loader.dispose()


def _items(number: int, value: Any, node: Any) -> Iterator[Document]:
    if not (isinstance(value, Mapping) and str(value.get("kind", ""))[-4:] == "List" and "items" in value):
        if value is not None:
            yield Document(number, value, node)
        return
    items = value.get("items")
    if not isinstance(items, Sequence) or isinstance(items, str):
        return
    found = _below(node, "items")
    nodes = found[0].value if found and isinstance(found[0], yaml.SequenceNode) else ()
    for index, item in enumerate(items):
        if item is not None:
            yield Document(number, item, nodes[index] if index < len(nodes) else node)


def _below(node: Any, part: str | int) -> tuple[Any, Any] | None:
    """The node of a field or element, and the mark where a reader looks for it; None where there is none."""
    if isinstance(node, yaml.MappingNode):
        # The last one wins, as in the value.
        for key, value in reversed(node.value):
            if isinstance(key, yaml.ScalarNode) and key.value == part:
                return value, key.start_mark
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part].start_mark
    return None
