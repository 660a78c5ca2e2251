"""What the API server keeps in the metadata of an object: its identity, its generation, and who owns which field."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from llmservice.objects.references import Manifest
from tests.in_memory_cluster.field_ownership import Owner, Owners
from tests.in_memory_cluster.field_sets import Fields, as_fields_v1

_GIVEN = ("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")
"""Metadata nobody owns: it names the object, or the API server sets it."""

_WITHOUT_GENERATION = frozenset({"Event", "Service"})
_COUNTED_METADATA = {"Deployment": ("annotations", "deletionTimestamp")}
"""Changes of a Deployment's annotations count as its spec's (pkg/registry/apps/deployment/strategy.go)."""


def ownable(manifest: Manifest) -> Manifest:
    """What of a manifest somebody can own."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in _GIVEN}
    rest = {key: value for key, value in manifest.items() if key not in {"apiVersion", "kind", "metadata"}}
    return {**rest, "metadata": metadata} if metadata else rest


def named(metadata: Mapping[str, Any], number: int, now: datetime) -> dict[str, Any]:
    """The metadata of a new object: a UID made from the number, unless it brings one, and the time."""
    return {
        "uid": f"00000000-0000-4000-8000-{number:012d}",
        "creationTimestamp": moment(now),
        **metadata,
    }


def accounted(live: Manifest | None, after: Manifest, owners: Owners, now: datetime) -> dict[str, Any]:
    """The metadata with the generation after this change and the managed fields of these owners."""
    metadata = dict(after["metadata"])
    if after["kind"] not in _WITHOUT_GENERATION:
        metadata["generation"] = _generation(live, after)
    entries = [_entry(owner, fields, after["apiVersion"], moment(now)) for owner, fields in owners.items()]
    return {**metadata, "managedFields": entries}


def moment(now: datetime) -> str:
    """A time as Kubernetes writes it."""
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _generation(live: Manifest | None, after: Manifest) -> int:
    if live is None:
        return int(after["metadata"].get("generation", 1))
    counted = _COUNTED_METADATA.get(after["kind"], ("deletionTimestamp",))
    changed = live.get("spec") != after.get("spec") or any(
        live["metadata"].get(key) != after["metadata"].get(key) for key in counted
    )
    return int(live["metadata"]["generation"]) + changed


def _entry(owner: Owner, fields: Fields, api_version: str, written_at: str) -> dict[str, Any]:
    entry = {
        "manager": owner.manager,
        "operation": owner.operation,
        "apiVersion": api_version,
        "time": written_at,
        "fieldsType": "FieldsV1",
        "fieldsV1": as_fields_v1(fields),
    }
    return {**entry, "subresource": owner.subresource} if owner.subresource else entry
