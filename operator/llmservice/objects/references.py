"""References to objects of the cluster, and accessors of their metadata."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]
"""One Kubernetes object as JSON: as sent and as received."""


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """One object by kind, namespace and name. `kind` is a key of `cluster.kinds.KINDS`."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def ref_of(manifest: Mapping[str, Any]) -> Ref:
    """The reference of a manifest."""
    metadata = manifest["metadata"]
    return Ref(manifest["kind"], metadata.get("namespace", ""), metadata["name"])


def uid_of(manifest: Mapping[str, Any]) -> str:
    """The UID the API server gave an object; empty when it has none yet."""
    return str(manifest["metadata"].get("uid", ""))


def controller_of(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """The owner reference of an object's controller; empty when it has none."""
    owners = manifest["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), {})


def controller_uid(manifest: Mapping[str, Any]) -> str:
    """The UID of an object's controller; empty when it has none."""
    return str(controller_of(manifest).get("uid", ""))


def is_being_deleted(manifest: Mapping[str, Any]) -> bool:
    """Whether the API server is already deleting the object."""
    return "deletionTimestamp" in manifest["metadata"]
