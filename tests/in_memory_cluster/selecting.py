"""Label and field selectors as the API server reads them, as far as we send them."""

from collections.abc import Iterator, Mapping
from typing import Any

from llmservice.objects.references import Manifest


def has_labels(manifest: Manifest, selector: str) -> bool:
    """Whether the labels meet a selector of terms `key`, `key=value` and `key!=value`, joined by commas."""
    labels: Mapping[str, str] = manifest["metadata"].get("labels") or {}
    return all(_holds(labels.get(key), operator, value) for key, operator, value in _terms(selector))


def has_fields(manifest: Manifest, selector: str) -> bool:
    """Whether fields, named by dotted paths, meet a selector of terms `path=value` and `path!=value`."""
    return all(_holds(_field(manifest, path), operator, value) for path, operator, value in _terms(selector))


def _terms(selector: str) -> Iterator[tuple[str, str, str]]:
    for term in filter(None, selector.split(",")):
        key, operator, value = term.partition("!=") if "!=" in term else term.replace("==", "=").partition("=")
        yield key, operator, value


def _holds(found: str | None, operator: str, value: str) -> bool:
    if not operator:
        return found is not None
    return (found == value) is (operator == "=")


def _field(manifest: Manifest, path: str) -> str | None:
    value: Any = manifest
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return None if value is None else str(value)
