"""Which fields a manifest states, as server-side apply counts them: leaves, and the elements of lists with keys.

Lists and maps that Kubernetes merges are known here by field name, as far as the kinds of `kinds` use them; all others
are atomic: one value with one owner (kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from llmservice.converging.intent import MERGE_KEYS

Step = str | tuple[tuple[str, Any], ...]
"""One step down: the name of a field, or the keys and values that tell an element of a list."""

Path = tuple[Step, ...]
Fields = frozenset[Path]

_LIST_KEYS: Mapping[str, tuple[str, ...]] = {**MERGE_KEYS, "conditions": ("type",), "initContainers": ("name",)}
_ATOMIC_MAPS = frozenset({
    "configMapKeyRef",
    "fieldRef",
    "nodeSelector",
    "podSelector",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "resourceFieldRef",
    "secretKeyRef",
    "selector",
})  # fmt: skip


def fields_of(value: Any, field: str = "") -> Fields:
    """The paths of everything a value states; `field` is the name it stands under."""
    return frozenset(_walk(value, field, ()))


def is_map(value: Any, field: str) -> bool:
    """Whether the value is a map that is merged field by field."""
    return isinstance(value, dict) and field not in _ATOMIC_MAPS


def elements(value: Any, field: str) -> dict[Step, Any] | None:
    """The elements of a list that is merged by key; None when the value is none."""
    if not isinstance(value, list) or (field != "ports" and field not in _LIST_KEYS):
        return None
    return {_key(item, field): item for item in value}


def at(value: Any, path: Path) -> Any:
    """What stands at a path; None when nothing does."""
    field = ""
    for step in path:
        if isinstance(step, str):
            value, field = (value.get(step) if isinstance(value, dict) else None), step
        else:
            value, field = (elements(value, field) or {}).get(step), ""
    return value


def as_fields_v1(fields: Iterable[Path]) -> dict[str, Any]:
    """The paths in the shape of `managedFields[].fieldsV1`."""
    tree: dict[str, Any] = {}
    for path in sorted(fields, key=repr):
        node = tree
        for step in path:
            node = node.setdefault(_label(step), {})
        if not isinstance(path[-1], str):
            node["."] = {}
    return tree


def _walk(value: Any, field: str, path: Path) -> Iterator[Path]:
    if is_map(value, field) and value:
        for name, inner in value.items():
            yield from _walk(inner, name, (*path, name))
    elif items := elements(value, field):
        for key, item in items.items():
            yield (*path, key)
            yield from _walk(item, "", (*path, key))
    elif path:
        yield path


def _key(item: Mapping[str, Any], field: str) -> Step:
    if field == "ports":
        number = "containerPort" if "containerPort" in item else "port"
        return ((number, item[number]), ("protocol", item.get("protocol", "TCP")))
    return tuple((name, item[name]) for name in _LIST_KEYS[field])


def _label(step: Step) -> str:
    return f"f:{step}" if isinstance(step, str) else f"k:{orjson.dumps(dict(step)).decode()}"
