"""Writes manifests as YAML and JSON, and reads the documents of a text without their places."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from llmservice.cli.located import located_documents

_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_DUMPER):  # type: ignore[misc]
    """No YAML aliases, and multi-line strings as literal blocks."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  (PyYAML's signature)
        return True


def _text(dumper: Any, text: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def documents_in(text: str) -> Iterator[tuple[int, Any]]:
    """The documents with their number, from 1; the items of a List have its number. Raises yaml.YAMLError."""
    return ((document.number, document.value) for document in located_documents(text))


def to_yaml(manifests: Iterable[Mapping[str, Any]]) -> str:
    """A YAML stream with one document for each manifest."""
    text: str = yaml.dump_all(manifests, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)
    return text


def to_json(manifests: Iterable[Mapping[str, Any]]) -> str:
    """One List, for kubectl."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)}, indent=2) + "\n"
