"""What kustomize has to know of an LLMService: where images, replicas and the names of other objects stand.

Made from the CRD: a field `…SecretRef`, `secretKeyRef` or `configMapKeyRef` names an object that kustomize may have
generated with a hash in its name; whose names these are is in the field's own name.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from llmservice.api.crd import crd_manifest
from llmservice.api.v1alpha1.resource import GROUP, KIND
from llmservice.engines.registry import ENGINES

_HEAD = """\
# Made by `make charts` from the CRD. In a kustomization of your own:
#   configurations: [llmservice.yaml]
# Then `images` and `replicas` reach LLMServices, and generated Secrets and ConfigMaps are found by their hashed names.
"""
_PLACES = {"images": "spec/engineOptions/image", "replicas": "spec/replicas"}
_BY_ENDING = {"secretref": "Secret", "secretkeyref": "Secret", "secretsref": "Secret", "configmapkeyref": "ConfigMap"}
_BY_NAME = {"imagePullSecrets": "Secret", "keysSecretRef": "Secret", "configMap": "ConfigMap"}


def kustomize_configuration() -> str:
    """A file for `configurations` of a kustomization."""
    found = list(_references(_spec(), "spec"))
    references = [
        {"kind": kind, "version": "v1", "fieldSpecs": [_place(path) for of, path in found if of == kind]}
        for kind in sorted({kind for kind, _ in found})
    ]
    placed = {name: [_place(path)] for name, path in _PLACES.items()}
    return _HEAD + yaml.safe_dump({**placed, "nameReference": references}, sort_keys=False)


def _spec() -> Mapping[str, Any]:
    version = crd_manifest(ENGINES)["spec"]["versions"][0]
    schema: Mapping[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return schema


def _references(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """Kind and path of each name of another object; kustomize goes into lists by itself."""
    for name, field in (schema.get("properties") or {}).items():
        below = field.get("items", field)
        kind = _kind(name)
        if kind and "name" in (below.get("properties") or {}):
            yield kind, f"{path}/{name}/name"
        else:
            yield from _references(below, f"{path}/{name}")


def _kind(name: str) -> str:
    ending = next((kind for end, kind in _BY_ENDING.items() if name.lower().endswith(end)), "")
    return _BY_NAME.get(name, ending)


def _place(path: str) -> dict[str, str]:
    return {"path": path, "kind": KIND, "group": GROUP}
