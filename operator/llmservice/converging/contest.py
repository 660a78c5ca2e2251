"""Who overwrites what the operator applies, and which field: from the difference and from `managedFields`."""

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
    """The first half of a sentence: "Service chat: kubectl-edit sets spec.type again after every repair".

    `at_admission` is the field in which the response to our last write already differed from the request.
    """
    ref = ref_of(intent)
    if live is None:
        return f"{ref.kind} {ref.name}: another client deletes it each time it is created"
    path = difference(live, intent)
    if at_admission is not None:
        return f"{ref.kind} {ref.name}: an admission webhook changes {shown(at_admission)} on every write"
    if path is None:
        return f"{ref.kind} {ref.name}: another client changes it after every repair"
    return sentence(f"{ref.kind} {ref.name}: {_who(live, path)} sets {shown(path)} again after every repair")


def shown(path: FieldPath) -> str:
    """The path in the notation of kubectl: spec.template.spec.containers[engine].image."""
    text = "".join(f".{step}" if isinstance(step, str) else f"[{'/'.join(map(str, step))}]" for step in path)
    return text.lstrip(".") or "it"


def _who(live: Manifest, path: FieldPath) -> str:
    managers = dict.fromkeys(str(entry.get("manager")) for entry in _owners(live, path))
    others = [manager[:_LONGEST_NAME] for manager in managers if manager not in {OPERATOR, AUTOSCALER}]
    if others:
        return ", ".join(others[:_NAMED_AT_MOST])
    return "another LLMService operator" if managers else "another client"


def _owners(live: Manifest, path: FieldPath) -> Iterator[Mapping[str, Any]]:
    """The managedFields entries that own the field, one of its parents or one of its children."""
    for entry in live["metadata"].get("managedFields") or ():
        if entry.get("subresource") != "status" and _owns(entry.get("fieldsV1") or {}, path):
            yield entry


def _owns(fields: Mapping[str, Any], path: FieldPath) -> bool:
    """Whether these fieldsV1 cover the path; for an atomic map or list they end above it."""
    for step in path:
        if not fields:
            return True
        found = fields.get(f"f:{step}") if isinstance(step, str) else _element(fields, step)
        if found is None:
            return False
        fields = found
    return True


def _element(fields: Mapping[str, Any], key: tuple[Any, ...]) -> Mapping[str, Any] | None:
    """The owned fields of the list element whose merge key has these values."""
    for label, inner in fields.items():
        if label.startswith("k:") and set(key) <= set(orjson.loads(label[2:]).values()):
            owned: Mapping[str, Any] = inner
            return owned
    return None
