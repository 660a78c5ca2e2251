"""Arrange: resources as users write them, valid until a test says otherwise."""

import copy
from typing import Any

Json = dict[str, Any]

_CHAT: Json = {
    "apiVersion": "llmservice.dev/v1alpha1",
    "kind": "LLMService",
    "metadata": {"name": "chat", "namespace": "ml", "uid": "0b5c1f3e-0000-4000-8000-000000000001", "generation": 1},
    "spec": {"engine": "llamacpp", "model": {"uri": "pvc://models/tiny.gguf"}, "gpu": {"count": 0}},
}


def an_llmservice(**changes: Any) -> Json:
    """An LLMService on the CPU; `spec__gpu__count=2` sets the field at that path, `None` removes it."""
    return with_changes(_CHAT, changes)


def with_changes(resource: Json, changes: Json) -> Json:
    """A copy of the resource with values set, or removed by None, at paths such as "spec__gpu__count"."""
    result = copy.deepcopy(resource)
    for path, value in changes.items():
        *parents, field = path.split("__")
        part = result
        for parent in parents:
            part = part.setdefault(parent, {})
        if value is None:
            part.pop(field, None)
        else:
            part[field] = copy.deepcopy(value)
    return result
