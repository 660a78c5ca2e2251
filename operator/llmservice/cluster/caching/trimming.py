"""Which parts of an object are cached: those that converging reads, and nothing else."""

from collections.abc import Callable, Mapping
from typing import Any

from llmservice.api.group import KIND
from llmservice.cluster.caching.interning import with_interned_values
from llmservice.cluster.caching.kept_metadata import (
    NAMES,
    TIMES,
    identity,
    revision_read,
    sources_read,
    with_metadata_read,
    without_unread_metadata,
)
from llmservice.cluster.caching.kept_pods import kept_of_pod
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, controller_of

_EVENT = ("reason", "type", "count", "firstTimestamp", "lastTimestamp", "eventTime")
_LONGEST_EVENT = 4096


def trimmed(manifest: Manifest) -> Manifest:
    """The part of an object worth keeping; a new dict that shares what it keeps, with the given and with others.

    | kind       | left out                                                                                   |
    |------------|--------------------------------------------------------------------------------------------|
    | LLMService | labels, finalizers and owners; the long parts of `status.plan` are shared with others      |
    | Event      | all but when, how often, why, and 4096 characters of what                                  |
    | Pod        | all but names, images and devices of containers, where it runs, its grace, what its status |
    |            | says, cut; of one that no ReplicaSet controls all but whose it is                          |
    | ReplicaSet | all but whose it is: its names, its label, its controller and its revision                |
    | a child's  | managed fields, but those that tell who owns a Deployment's `spec.replicas`; parts of its  |
    |            | pod template are shared with others, what it is made from is whole. Of what only has a     |
    |            | child's label (no LLMService controls it, or it has another name) all but whose it is      |
    | all        | managed fields otherwise; annotations that nobody reads, and what of the others exceeds    |
    |            | 256 characters                                                                             |
    """
    return _BY_KIND.get(manifest["kind"], with_metadata_read)(manifest)


def may_be_child(manifest: Manifest) -> bool:
    """Whether it is controlled by an LLMService and named as the one of its label, as every child is."""
    metadata = manifest["metadata"]
    label = (metadata.get("labels") or {}).get(NAME_LABEL)
    return bool(label == metadata["name"] and controller_of(manifest).get("kind") == KIND)


def _child(manifest: Manifest) -> Manifest:
    return with_metadata_read(manifest) if may_be_child(manifest) else identity(manifest, *TIMES)


def _deployment(manifest: Manifest) -> Manifest:
    if not may_be_child(manifest):
        return _child(manifest)
    owners = [entry for entry in map(_replicas_only, manifest["metadata"].get("managedFields") or ()) if entry]
    trimmed_manifest = with_metadata_read(manifest)
    if owners:
        trimmed_manifest["metadata"]["managedFields"] = owners
    if sources := sources_read(manifest):
        metadata = trimmed_manifest["metadata"]
        metadata["annotations"] = {**metadata.get("annotations", {}), **sources}
    return _with(trimmed_manifest, ("spec", "template", "spec"), _pod_template_spec)


def _pod_template_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    containers = [with_interned_values(item) for item in spec.get("containers") or ()]
    rest = with_interned_values({key: value for key, value in spec.items() if key != "containers"})
    return {**rest, "containers": containers}


def _event(manifest: Manifest) -> Manifest:
    metadata = {key: value for key, value in manifest["metadata"].items() if key in {*NAMES, *TIMES}}
    kept = {key: manifest[key] for key in ("apiVersion", "kind", *_EVENT) if key in manifest}
    return {**kept, "metadata": metadata, "message": str(manifest.get("message") or "")[:_LONGEST_EVENT]}


def _replica_set(manifest: Manifest) -> Manifest:
    """Its status and most annotations change with every pod, and nothing reads them."""
    kept = identity(manifest)
    kept["metadata"] |= revision_read(manifest)
    return kept


def _llm_service(manifest: Manifest) -> Manifest:
    return _with(without_unread_metadata(manifest), ("status", "plan"), with_interned_values)


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
    "NetworkPolicy": _child,
    "Pod": kept_of_pod,
    "PodDisruptionBudget": _child,
    "ReplicaSet": _replica_set,
    "Service": _child,
}
