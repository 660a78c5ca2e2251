"""What of an object is kept in memory: what converging reads, and nothing else."""

from collections.abc import Callable, Mapping
from typing import Any

from llmservice.cluster.sharing import with_shared_values
from llmservice.converging.intent import INTENT_ANNOTATION
from llmservice.converging.references import Manifest, controller_of
from llmservice.converging.replicas import BEFORE_SUSPEND_ANNOTATION
from llmservice.converging.scaled_pods import DELETION_COST_ANNOTATION
from llmservice.planning.facts import UPDATE_ANNOTATION
from llmservice.rendering.metadata import NAME_LABEL, RENDER_VERSION_ANNOTATION

_POD_SPEC = ("nodeName",)
_NAMES = ("name", "namespace", "uid", "resourceVersion")
_CONTAINER = ("name", "image", "resources")
_EVENT = ("reason", "type", "count", "firstTimestamp", "lastTimestamp", "eventTime")
_LONGEST_EVENT = 4096
_METADATA = (
    *("name", "namespace", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "annotations"),
)
"""Of an LLMService: labels, finalizers and owners are other people's, and no bound holds for them."""

_ANNOTATIONS = (
    *(INTENT_ANNOTATION, RENDER_VERSION_ANNOTATION, BEFORE_SUSPEND_ANNOTATION),
    *(UPDATE_ANNOTATION, DELETION_COST_ANNOTATION),
)
_LONGEST_ANNOTATION = 256
"""Anybody may write 256 kB of annotations; the longest that is read is an update's name."""


def trimmed(manifest: Manifest) -> Manifest:
    """The part of an object worth keeping; a new dict that shares what it keeps, with the given and with others.

    | kind       | left out                                                        |
    |------------|-----------------------------------------------------------------|
    | LLMService | labels, finalizers and owners; the long parts of `status.plan`  |
    |            | are shared with others                                          |
    | Event      | all but when, how often, why, and 4096 characters of what       |
    | Pod        | spec but for the node, and name, image, resources of containers |
    | Deployment | managed fields that do not tell who owns `spec.replicas`; the   |
    |            | parts of the pod template are shared with others                |
    | ReplicaSet | all but whose it is: its names, its label and its controller    |
    | all        | managed fields otherwise; annotations that nobody reads, and    |
    |            | what of the others exceeds 256 characters                       |
    """
    return _BY_KIND.get(manifest["kind"], _with_metadata_read)(manifest)


def _with_metadata_read(manifest: Manifest) -> Manifest:
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "managedFields"}
    annotations = metadata.pop("annotations", None) or {}
    if read := {key: annotations[key][:_LONGEST_ANNOTATION] for key in _ANNOTATIONS if key in annotations}:
        metadata["annotations"] = read
    return {**manifest, "metadata": metadata}


def without_unread_metadata(service: Manifest) -> Manifest:
    """An LLMService with what is read of its metadata: a new dict that shares what it keeps."""
    kept = _with_metadata_read(service)
    return {**kept, "metadata": {key: value for key, value in kept["metadata"].items() if key in _METADATA}}


def _pod(manifest: Manifest) -> Manifest:
    spec = manifest.get("spec") or {}
    kept = {key: spec[key] for key in _POD_SPEC if key in spec}
    containers = [{key: item[key] for key in _CONTAINER if key in item} for item in spec.get("containers") or ()]
    return {**_with_metadata_read(manifest), "spec": {**kept, "containers": containers}}


def _deployment(manifest: Manifest) -> Manifest:
    owners = [entry for entry in map(_replicas_only, manifest["metadata"].get("managedFields") or ()) if entry]
    trimmed_manifest = _with_metadata_read(manifest)
    if owners:
        trimmed_manifest["metadata"]["managedFields"] = owners
    return _with(trimmed_manifest, ("spec", "template", "spec"), _pod_template_spec)


def _pod_template_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    containers = [with_shared_values(item) for item in spec.get("containers") or ()]
    rest = with_shared_values({key: value for key, value in spec.items() if key != "containers"})
    return {**rest, "containers": containers}


def _event(manifest: Manifest) -> Manifest:
    metadata = {key: value for key, value in manifest["metadata"].items() if key in _METADATA}
    kept = {key: manifest[key] for key in ("apiVersion", "kind", *_EVENT) if key in manifest}
    return {**kept, "metadata": metadata, "message": str(manifest.get("message") or "")[:_LONGEST_EVENT]}


def _replica_set(manifest: Manifest) -> Manifest:
    """Its status and annotations change with every pod, and nobody asks for them."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key in _NAMES}
    label, owner = (manifest["metadata"].get("labels") or {}).get(NAME_LABEL), controller_of(manifest)
    metadata |= {"labels": {NAME_LABEL: label}} if label else {}
    metadata |= {"ownerReferences": [owner]} if owner else {}
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": metadata}


def _llm_service(manifest: Manifest) -> Manifest:
    return _with(without_unread_metadata(manifest), ("status", "plan"), with_shared_values)


def _with(
    manifest: Manifest, path: tuple[str, ...], change: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """The manifest with the dict at the path changed; the manifest itself where it has none."""
    head, *rest = path
    inner = manifest.get(head)
    if not isinstance(inner, dict):
        return manifest
    return {**manifest, head: _with(inner, tuple(rest), change) if rest else change(inner)}


def _replicas_only(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A managed-fields entry reduced to its claim on replicas; empty when it has none."""
    spec = (entry.get("fieldsV1") or {}).get("f:spec") or {}
    if "f:replicas" not in spec:
        return {}
    kept = {key: entry[key] for key in ("manager", "operation", "subresource") if key in entry}
    return {**kept, "fieldsV1": {"f:spec": {"f:replicas": {}}}}


_BY_KIND: Mapping[str, Callable[[Manifest], Manifest]] = {
    "Deployment": _deployment,
    "Event": _event,
    "LLMService": _llm_service,
    "Pod": _pod,
    "ReplicaSet": _replica_set,
}
