"""Volumes on the sandbox's node: its model folder, which pods read, and empty folders that models are downloaded to."""

import subprocess
from typing import Any

from sandbox.api_client import ApiClient
from sandbox.cell import Cell
from sandbox.settings import SandboxSpec
from sandbox.waiting import wait_until

_ALL_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany")
SIZE = "1Gi"  # Kubernetes wants a number; nothing enforces it on a folder


def ensure_model_volume(api: ApiClient, spec: SandboxSpec, namespace: str, claim: str) -> None:
    """Create or complete the volume and the claim, bound to each other; the namespace too when it is missing."""
    if api.get(f"/api/v1/namespaces/{namespace}") is None:
        api.apply(f"/api/v1/namespaces/{namespace}", _object("Namespace", namespace))
    volume = f"models-{namespace}-{claim}"
    live = api.get(f"/api/v1/persistentvolumes/{volume}")
    if live and live["status"]["phase"] in ("Released", "Failed"):
        api.delete(f"/api/v1/persistentvolumes/{volume}")  # its claim is gone: a released volume never binds again
    api.apply(f"/api/v1/persistentvolumes/{volume}", persistent_volume(spec, volume, namespace, claim))
    path = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{claim}"
    api.apply(path, persistent_volume_claim(volume, namespace, claim))
    wait_until(lambda: _is_bound(api, path), f"claim {namespace}/{claim} bound", timeout_seconds=30)


def ensure_cache_volume(
    api: ApiClient, spec: SandboxSpec, cell: Cell, namespace: str, claim: str, megabytes: int | None
) -> str:
    """An empty volume reserved for a claim that somebody else makes, full after so many megabytes; returns its name."""
    volume = f"cache-{namespace}-{claim}"
    folder = spec.folder / "caches" / volume
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o777)  # whoever a pod runs as writes to it: the kubelet gives a folder of its node no group
    if megabytes is not None:
        options = f"size={megabytes}m,mode=0777"
        subprocess.run(cell.command("mount", "-t", "tmpfs", "-o", options, "none", folder), check=True)
    body = persistent_volume(spec, volume, namespace, claim)
    body["spec"] |= {"hostPath": {"path": str(folder), "type": "Directory"}, "accessModes": list(_ALL_MODES)}
    api.apply(f"/api/v1/persistentvolumes/{volume}", body)
    return volume


def _is_bound(api: ApiClient, path: str) -> bool:
    claim = api.get(path)
    return claim is not None and claim.get("status", {}).get("phase") == "Bound"


def persistent_volume(spec: SandboxSpec, name: str, namespace: str, claim: str) -> dict[str, Any]:
    """A volume reserved for that claim."""
    return _object("PersistentVolume", name) | {
        "spec": {
            "capacity": {"storage": SIZE},
            "accessModes": ["ReadOnlyMany", "ReadWriteMany"],
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": str(spec.models), "type": "Directory"},
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim},
        }
    }


def persistent_volume_claim(volume: str, namespace: str, claim: str) -> dict[str, Any]:
    """A claim on that volume and no other."""
    document = _object("PersistentVolumeClaim", claim)
    document["metadata"]["namespace"] = namespace
    return document | {
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "volumeName": volume,
            "resources": {"requests": {"storage": SIZE}},
        }
    }


def _object(kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}
