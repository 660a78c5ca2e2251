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
from llmservice.cluster.caching.kept_routes import kept_of_route
from llmservice.objects.endpoint_slices import has_endpoints, is_ours
from llmservice.objects.names import ACTIVATION_ANNOTATION, LONGEST_ACTIVATION, NAME_LABEL
from llmservice.objects.references import Manifest, controller_of

_ENDPOINTS_KEPT = 64
_POD_TEMPLATES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "Deployment": (("spec", "template"),),
    "LeaderWorkerSet": tuple(("spec", "leaderWorkerTemplate", each) for each in ("leaderTemplate", "workerTemplate")),
}
_EVENT = ("reason", "type", "count", "firstTimestamp", "lastTimestamp", "eventTime")
_LONGEST_EVENT = 4096


def trimmed(manifest: Manifest) -> Manifest:
    """The part of an object worth keeping; a new dict that shares what it keeps, with the given and with others.

    | kind       | left out                                                                                   |
    |------------|--------------------------------------------------------------------------------------------|
    | LLMService | labels, finalizers and owners; the long parts of `status.plan` are shared with others      |
    | Event      | all but when, how often, why, and 4096 characters of what                                  |
    | Pod        | all but names, images and devices of containers, where it runs, its grace, what its status |
    |            | says, cut; of one of neither a ReplicaSet nor a group all but whose it is                  |
    | ReplicaSet | all but whose it is: its names, its label, its controller and its revision                |
    | Endpoint-  | of ours the ends of long lists; of a selector's all but whose it is, and whether a replica |
    | Slice      | is ready                                                                                   |
    | a child's  | managed fields, but those that tell who owns a workload's `spec.replicas`; parts of its    |
    |            | pod template are shared with others, what it is made from is whole. Of what only has a     |
    |            | child's label (no LLMService controls it, or it has another name) all but whose it is      |
    | a route's  | the same, and of what controllers say of it all but who says what, cut                     |
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


def _route(manifest: Manifest) -> Manifest:
    return kept_of_route(manifest) if may_be_child(manifest) else identity(manifest, *TIMES)


def _workload(manifest: Manifest) -> Manifest:
    if not may_be_child(manifest):
        return _child(manifest)
    owners = [entry for entry in map(_replicas_only, manifest["metadata"].get("managedFields") or ()) if entry]
    trimmed_manifest = with_metadata_read(manifest)
    if owners:
        trimmed_manifest["metadata"]["managedFields"] = owners
    if sources := sources_read(manifest):
        metadata = trimmed_manifest["metadata"]
        metadata["annotations"] = {**metadata.get("annotations", {}), **sources}
    for path in _POD_TEMPLATES[manifest["kind"]]:
        trimmed_manifest = _with(trimmed_manifest, (*path, "spec"), _pod_template_spec)
    return trimmed_manifest


def _pod_template_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    containers = [with_interned_values(item) for item in spec.get("containers") or ()]
    rest = with_interned_values({key: value for key, value in spec.items() if key != "containers"})
    return {**rest, "containers": containers}


def _event(manifest: Manifest) -> Manifest:
    metadata = {key: value for key, value in manifest["metadata"].items() if key in {*NAMES, *TIMES}}
    kept = {key: manifest[key] for key in ("apiVersion", "kind", *_EVENT) if key in manifest}
    return {**kept, "metadata": metadata, "message": str(manifest.get("message") or "")[:_LONGEST_EVENT]}


def _endpoint_slice(manifest: Manifest) -> Manifest:
    """Ours as it is compared; of one of the selector only whether a replica is an endpoint: it may list hundreds."""
    if not is_ours(manifest):
        ready = [{"conditions": {"ready": True}}] if has_endpoints(manifest) else []
        return {**identity(manifest, *TIMES), "endpoints": ready}
    kept = with_metadata_read(manifest)
    said = (manifest["metadata"].get("annotations") or {}).get(ACTIVATION_ANNOTATION)
    if said is not None:
        annotations = {**kept["metadata"].get("annotations", {}), ACTIVATION_ANNOTATION: said[:LONGEST_ACTIVATION]}
        kept["metadata"]["annotations"] = annotations
    endpoints, ports = manifest.get("endpoints") or (), manifest.get("ports") or ()
    return {**kept, "endpoints": list(endpoints)[:_ENDPOINTS_KEPT], "ports": list(ports)[:_ENDPOINTS_KEPT]}


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
    "Deployment": _workload,
    "EndpointSlice": _endpoint_slice,
    "Event": _event,
    "HTTPRoute": _route,
    "InferencePool": _route,
    "LLMService": _llm_service,
    "LeaderWorkerSet": _workload,
    "NetworkPolicy": _child,
    "Pod": kept_of_pod,
    "PodDisruptionBudget": _child,
    "ReplicaSet": _replica_set,
    "Service": _child,
}
