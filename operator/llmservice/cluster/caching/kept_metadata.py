"""Which metadata of an object is cached: others may write any amount of it."""

from collections.abc import Mapping
from typing import Any

from llmservice.converging.scaled_pods import DELETION_COST_ANNOTATION
from llmservice.objects.groups import GROUP_LABELS
from llmservice.objects.names import (
    BEFORE_SUSPEND_ANNOTATION,
    INTENT_ANNOTATION,
    LONGEST_SOURCE,
    NAME_LABEL,
    RENDER_VERSION_ANNOTATION,
    REVISION_ANNOTATION,
    ROLLOUT_ANNOTATION,
    SERVED_SOURCE_ANNOTATION,
    SERVICE_NAME_LABEL,
    SOURCE_ANNOTATION,
    STARTING_ANNOTATION,
    TEMPLATE_ANNOTATION,
    UPDATE_ANNOTATION,
    WAKE_ANNOTATION,
)
from llmservice.objects.references import Manifest, controller_of

NAMES = ("name", "namespace", "uid", "resourceVersion")
TIMES = ("creationTimestamp", "deletionTimestamp")

_OF_SERVICE = (*NAMES, *TIMES, "generation", "annotations")
"""Labels, finalizers and owners of an LLMService are other people's, and no bound holds for them."""

_LEFT_OUT = frozenset({"managedFields", "annotations"})
_OWNER = ("apiVersion", "kind", "name", "uid", "controller")

_ANNOTATIONS = (
    *(INTENT_ANNOTATION, RENDER_VERSION_ANNOTATION, BEFORE_SUSPEND_ANNOTATION),
    *(REVISION_ANNOTATION, ROLLOUT_ANNOTATION, UPDATE_ANNOTATION, DELETION_COST_ANNOTATION, STARTING_ANNOTATION),
    TEMPLATE_ANNOTATION,
    WAKE_ANNOTATION,
)
_SOURCES = (SOURCE_ANNOTATION, SERVED_SOURCE_ANNOTATION)
_LONGEST_ANNOTATION = 256
"""Anybody may write 256 kB of annotations; the longest that is read is how a rollout goes."""


def with_metadata_read(manifest: Manifest) -> Manifest:
    """The object without managed fields, and without annotations that nothing reads."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in _LEFT_OUT}
    return {**manifest, "metadata": metadata | annotations_read(manifest)}


def without_unread_metadata(service: Manifest) -> Manifest:
    """An LLMService with only the metadata that is read: a new dict that shares its values."""
    kept = with_metadata_read(service)
    return {**kept, "metadata": {key: value for key, value in kept["metadata"].items() if key in _OF_SERVICE}}


def identity(manifest: Manifest, *keys: str) -> Manifest:
    """The object reduced to its names, our label and its controller, plus these keys of its metadata."""
    given: Mapping[str, Any] = manifest["metadata"]
    metadata = {key: given[key] for key in (*NAMES, *keys) if key in given}
    labels, owner = given.get("labels") or {}, controller_of(manifest)
    kept = {name: labels[name] for name in (NAME_LABEL, SERVICE_NAME_LABEL) if name in labels}
    metadata |= {"labels": kept} if kept else {}
    metadata |= {"ownerReferences": [{key: owner[key] for key in _OWNER if key in owner}]} if owner else {}
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": metadata}


def group_read(pod: Manifest) -> dict[str, Any]:
    """The key `labels` with those that say of which group a pod is, and ours; empty where it is of none."""
    given = pod["metadata"].get("labels") or {}
    if GROUP_LABELS[0] not in given:
        return {}
    return {"labels": {key: given[key][:_LONGEST_ANNOTATION] for key in (NAME_LABEL, *GROUP_LABELS) if key in given}}


def annotations_read(manifest: Manifest) -> dict[str, Any]:
    """The key `annotations` with the ones that the operator reads, cut in length; empty when there are none."""
    given = manifest["metadata"].get("annotations") or {}
    read = {key: given[key][:_LONGEST_ANNOTATION] for key in _ANNOTATIONS if key in given}
    return {"annotations": read} if read else {}


def sources_read(manifest: Manifest) -> dict[str, str]:
    """The annotations that say what a pod template is made from; one that is too long is none of ours."""
    given = manifest["metadata"].get("annotations") or {}
    return {key: given[key] for key in _SOURCES if key in given and len(given[key]) <= LONGEST_SOURCE}


def revision_read(manifest: Manifest) -> dict[str, Any]:
    """The key `annotations` with the revision of a ReplicaSet alone; empty when it has none."""
    given = manifest["metadata"].get("annotations") or {}
    revision = given.get(REVISION_ANNOTATION, "")[:_LONGEST_ANNOTATION]
    return {"annotations": {REVISION_ANNOTATION: revision}} if revision else {}
