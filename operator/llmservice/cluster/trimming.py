"""What of an object is kept in memory: what converging reads, and nothing else."""

from collections.abc import Callable, Mapping
from typing import Any

from llmservice.cluster.sharing import with_shared_values
from llmservice.converging.references import Manifest, controller_of
from llmservice.rendering.metadata import NAME_LABEL

_POD_SPEC = ("nodeName",)
_NAMES = ("name", "namespace", "uid", "resourceVersion")
_CONTAINER = ("name", "image", "resources")


def trimmed(manifest: Manifest) -> Manifest:
    """The part of an object worth keeping; a new dict that shares what it keeps, with the given and with others.

    | kind       | left out                                                       |
    |------------|----------------------------------------------------------------|
    | LLMService | nothing; the long parts of `status.plan` are shared with others |
    | Pod        | spec but for the node, and name, image, resources of containers |
    | Deployment | managed fields that do not tell who owns `spec.replicas`; the   |
    |            | parts of the pod template are shared with others                |
    | ReplicaSet | all but whose it is: its names, its label and its controller    |
    | all        | managed fields otherwise                                        |
    """
    return _BY_KIND.get(manifest["kind"], _without_managed_fields)(manifest)


def _without_managed_fields(manifest: Manifest) -> Manifest:
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "managedFields"}
    return {**manifest, "metadata": metadata}


def _pod(manifest: Manifest) -> Manifest:
    spec = manifest.get("spec") or {}
    kept = {key: spec[key] for key in _POD_SPEC if key in spec}
    containers = [{key: item[key] for key in _CONTAINER if key in item} for item in spec.get("containers") or ()]
    return {**_without_managed_fields(manifest), "spec": {**kept, "containers": containers}}


def _deployment(manifest: Manifest) -> Manifest:
    owners = [entry for entry in map(_replicas_only, manifest["metadata"].get("managedFields") or ()) if entry]
    trimmed_manifest = _without_managed_fields(manifest)
    if owners:
        trimmed_manifest["metadata"]["managedFields"] = owners
    return _with(trimmed_manifest, ("spec", "template", "spec"), _pod_template_spec)


def _pod_template_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    containers = [with_shared_values(item) for item in spec.get("containers") or ()]
    rest = with_shared_values({key: value for key, value in spec.items() if key != "containers"})
    return {**rest, "containers": containers}


def _replica_set(manifest: Manifest) -> Manifest:
    """Its status and annotations change with every pod, and nobody asks for them."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key in _NAMES}
    label, owner = (manifest["metadata"].get("labels") or {}).get(NAME_LABEL), controller_of(manifest)
    metadata |= {"labels": {NAME_LABEL: label}} if label else {}
    metadata |= {"ownerReferences": [owner]} if owner else {}
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": metadata}


def _llm_service(manifest: Manifest) -> Manifest:
    return _with(_without_managed_fields(manifest), ("status", "plan"), with_shared_values)


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
    "LLMService": _llm_service,
    "Pod": _pod,
    "ReplicaSet": _replica_set,
}
