"""Which parts of a route are cached: what controllers say of it may be megabytes."""

from collections.abc import Mapping
from typing import Any

from llmservice.cluster.caching.kept_metadata import with_metadata_read
from llmservice.objects.references import Manifest

_PARENT = {"group": 253, "kind": 63, "namespace": 63, "name": 253, "sectionName": 253}
_CONDITION = {"type": 316, "status": 16, "reason": 128, "message": 512}
_MOST = 32
"""Entries of a list: as many parents as the Gateway API allows."""


def kept_of_route(route: Manifest) -> Manifest:
    """An HTTPRoute or InferencePool of ours; of its status, who says what about which generation."""
    kept = with_metadata_read(route)
    parents = [_parent(entry) for entry in _dicts((kept.pop("status", None) or {}).get("parents"))]
    return {**kept, "status": {"parents": parents}} if parents else kept


def _parent(entry: Mapping[str, Any]) -> dict[str, Any]:
    given = entry.get("parentRef") or {}
    port = {"port": given["port"]} if isinstance(given.get("port"), int) else {}
    conditions = [_cut(item, _CONDITION) | _generation(item) for item in _dicts(entry.get("conditions"))]
    return {"parentRef": {**_cut(given, _PARENT), **port}, "conditions": conditions}


def _generation(condition: Mapping[str, Any]) -> dict[str, Any]:
    seen = condition.get("observedGeneration")
    return {"observedGeneration": seen} if isinstance(seen, int) else {}


def _cut(given: Mapping[str, Any], longest: Mapping[str, int]) -> dict[str, Any]:
    return {key: str(given[key])[:most] for key, most in longest.items() if given.get(key) is not None}


def _dicts(given: Any) -> list[Mapping[str, Any]]:
    return [item for item in given or () if isinstance(item, Mapping)][:_MOST]
