"""Who undoes what the operator writes, and where: read from the fields that differ and from who owns them."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from llmservice.converging.diagnosis import sentence
from llmservice.converging.intent import FieldPath, difference
from llmservice.objects.names import AUTOSCALER, OPERATOR
from llmservice.objects.references import Manifest, ref_of

_LONGEST_NAME = 64
_NAMED_AT_MOST = 3


def contest(live: Manifest | None, intent: Manifest, at_admission: FieldPath | None) -> str:
    """A sentence without its end: "Service chat: kubectl-edit sets spec.type again after every repair".

    `at_admission` is where the answer to our own last write already differed from what we sent.
    """
    ref = ref_of(intent)
    if live is None:
        return f"{ref.kind} {ref.name}: somebody deletes it whenever it is made"
    path = difference(live, intent)
    if at_admission is not None:
        return f"{ref.kind} {ref.name}: an admission webhook changes {shown(at_admission)} in every write"
    if path is None:
        return f"{ref.kind} {ref.name}: somebody changes it after every repair"
    return sentence(f"{ref.kind} {ref.name}: {_who(live, path)} sets {shown(path)} again after every repair")


def shown(path: FieldPath) -> str:
    """The path as people write it: spec.template.spec.containers[engine].image."""
    text = "".join(f".{step}" if isinstance(step, str) else f"[{'/'.join(map(str, step))}]" for step in path)
    return text.lstrip(".") or "it"


def _who(live: Manifest, path: FieldPath) -> str:
    managers = dict.fromkeys(str(entry.get("manager")) for entry in _owners(live, path))
    others = [manager[:_LONGEST_NAME] for manager in managers if manager not in {OPERATOR, AUTOSCALER}]
    if others:
        return ", ".join(others[:_NAMED_AT_MOST])
    return "another operator of LLMServices" if managers else "somebody"


def _owners(live: Manifest, path: FieldPath) -> Iterator[Mapping[str, Any]]:
    """The managed-fields entries that own the field, or something above or in it."""
    for entry in live["metadata"].get("managedFields") or ():
        if entry.get("subresource") != "status" and _owns(entry.get("fieldsV1") or {}, path):
            yield entry


def _owns(fields: Mapping[str, Any], path: FieldPath) -> bool:
    """Whether the path leads through these fields as far as they go; an atomic map or list ends above it."""
    for step in path:
        if not fields:
            return True
        found = fields.get(f"f:{step}") if isinstance(step, str) else _element(fields, step)
        if found is None:
            return False
        fields = found
    return True


def _element(fields: Mapping[str, Any], key: tuple[Any, ...]) -> Mapping[str, Any] | None:
    """What is owned of the element of a list whose key has these values, and perhaps more."""
    for label, inner in fields.items():
        if label.startswith("k:") and set(key) <= set(orjson.loads(label[2:]).values()):
            owned: Mapping[str, Any] = inner
            return owned
    return None
