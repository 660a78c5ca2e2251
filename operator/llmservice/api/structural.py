"""pydantic's JSON schema as Kubernetes wants it.

pydantic's own has `$ref`, `anyOf` with null, `additionalProperties: false`, `const` and exclusive bounds: the API
server takes none of them as structural.
"""

import copy
from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

_DROPPED = {"$defs", "title", "propertyNames", "examples"}
_AS_NEIGHBOUR = {"exclusiveMinimum": ("minimum", 1), "exclusiveMaximum": ("maximum", -1)}


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
