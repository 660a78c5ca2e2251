"""The types as one CustomResourceDefinition with a structural schema.

pydantic's own JSON schema has `$ref`, `anyOf` with null, `additionalProperties: false`, `const` and exclusive bounds:
the API server takes none of them as structural. `structural` turns one into the other.
"""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from llmservice.api.v1alpha1.base import VALIDATIONS
from llmservice.api.v1alpha1.resource import GROUP, KIND, PLURAL, VERSION, Metadata
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.api.v1alpha1.status import LLMServiceStatus

Schema = dict[str, Any]

COLUMNS = (
    ("Ready", '.status.conditions[?(@.type=="Available")].status', "Whether an endpoint answers.", 0),
    ("Reason", '.status.conditions[?(@.type=="Ready")].reason', "Why it is ready, or is not.", 0),
    ("Replicas", ".status.replicaSummary", "Replicas that serve / are asked for.", 0),
    ("Engine", ".spec.engine", "Engine.", 0),
    ("Model", ".spec.model.uri", "Where the weights are.", 0),
    ("GPU", ".spec.gpu.type", "Accelerator type.", 1),
    ("URL", ".status.url", "Base URL of the OpenAI API inside the cluster.", 1),
)
"""Printer columns: name, path, description, priority (1: only with `-o wide`)."""

_HEADER = "# Made by `llmservice crd` from the types in operator/llmservice/api: edit those, then `make crds`.\n"
_DROPPED = {"$defs", "title", "propertyNames", "examples"}
_AS_NEIGHBOUR = {"exclusiveMinimum": ("minimum", 1), "exclusiveMaximum": ("maximum", -1)}


def crd_yaml(engines: Iterable[str]) -> str:
    """The manifest as YAML, with a line that says where it comes from."""
    return _HEADER + yaml.safe_dump(crd_manifest(engines), sort_keys=False, width=120, allow_unicode=True)


def crd_manifest(engines: Iterable[str]) -> Schema:
    """The CustomResourceDefinition; `engines` are the values `spec.engine` may have, in the order given."""
    names = {"plural": PLURAL, "singular": "llmservice", "kind": KIND, "listKind": "LLMServiceList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {**names, "shortNames": ["llm"], "categories": ["serving"]},
            "scope": "Namespaced",
            "conversion": {"strategy": "None"},
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": _SUBRESOURCES,
                    "additionalPrinterColumns": [*map(_column, COLUMNS), _AGE],
                    "schema": {"openAPIV3Schema": _root(tuple(engines))},
                }
            ],
        },
    }


_SUBRESOURCES = {
    "status": {},
    "scale": {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    },
}
_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def _column(column: tuple[str, str, str, int]) -> Schema:
    name, path, description, priority = column
    written = {"name": name, "type": "string", "jsonPath": path, "description": description}
    return {**written, "priority": priority} if priority else written


def _root(engines: tuple[str, ...]) -> Schema:
    spec = structural(LLMServiceSpec.model_json_schema())
    spec["properties"]["engine"]["enum"] = list(engines)
    status = structural(LLMServiceStatus.model_json_schema())
    # Without it a new object has no status, which kstatus takes for "finished".
    status["default"] = {"observedGeneration": -1}
    return {
        "type": "object",
        "description": "An LLM, served: the operator makes a Deployment and a Service of it.",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
            "spec": spec,
            "status": status,
        },
        VALIDATIONS: [rule.within("metadata").as_validation() for rule in Metadata.rules],
    }


def structural(schema: Mapping[str, Any]) -> Schema:
    """A schema of pydantic as Kubernetes wants it.

    | pydantic                               | structural                                                |
    |----------------------------------------|-----------------------------------------------------------|
    | `$ref`                                 | the definition itself; what stands beside it wins         |
    | `anyOf: [X, null]`, `default: null`    | X: absent is absent                                       |
    | `const: x`                             | `enum: [x]`                                               |
    | `exclusiveMinimum: n` (whole numbers)  | `minimum: n + 1`; the maximum likewise                    |
    | `additionalProperties: false`, `title` | gone: unknown fields are pruned, strict clients refuse    |
    | `default` that is an object or a list  | gone: only constants are defaults                         |
    | `propertyNames`                        | gone: there is no such thing; checked by the types        |
    | a list without a list type             | `x-kubernetes-list-type: atomic`                          |
    """
    return _structural(schema, schema.get("$defs", {}))


def _structural(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    merged = _without_null(_inlined(schema, definitions), definitions)
    result: Schema = {}
    for key, value in merged.items():
        result |= _keyword(key, value, definitions)
    if result.get("type") == "array":
        result.setdefault("x-kubernetes-list-type", "atomic")
    return result


def _inlined(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    if "$ref" not in schema:
        return dict(schema)
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    return {**definitions[schema["$ref"].removeprefix("#/$defs/")], **beside}


def _without_null(schema: Schema, definitions: Mapping[str, Any]) -> Schema:
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) != 1:
        return schema
    beside = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**_inlined(choices[0], definitions), **beside}


def _keyword(key: str, value: Any, definitions: Mapping[str, Any]) -> Schema:
    """One keyword, translated; empty when there is none for it."""
    if key in _DROPPED or (key, value) == ("additionalProperties", False):
        return {}
    if key == "default":
        return {key: value} if isinstance(value, str | int | float) else {}
    if key == "const":
        return {"enum": [value]}
    if key in _AS_NEIGHBOUR:
        name, step = _AS_NEIGHBOUR[key]
        return {name: value + step}
    return {key: _value(key, value, definitions)}


def _value(key: str, value: Any, definitions: Mapping[str, Any]) -> Any:
    if key == "properties":
        return {name: _structural(part, definitions) for name, part in value.items()}
    if key in {"items", "additionalProperties"}:
        return _structural(value, definitions)
    if key == "description":
        return " ".join(value.split())
    return copy.deepcopy(value)  # shared parts would become anchors in YAML
