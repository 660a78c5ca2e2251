"""The Job of `llmservice bench --in-cluster`: the bench's own image in a restricted pod beside the service.

It has no token of the API server and no rights. A recorded load is an annotation that the pod sees as a file, so that
nobody needs a right on ConfigMaps; a client's key is a file of the Secret that its user names.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from llmservice import __version__
from llmservice.objects.references import Manifest
from llmservice.planning.security import CONTAINER_SECURITY

IMAGE = f"ghcr.io/llmservice/bench:{__version__}"
"""From images/bench/Dockerfile, published with the operator's image."""

CONTAINER = "bench"
KEY_FOLDER, TRACE_FILE = "/var/run/llmservice/key", "/var/run/llmservice/load/trace.csv"
LARGEST_TRACE = 200_000
"""Characters; all annotations of an object may have 262,144 bytes (apimachinery, TotalAnnotationSizeLimitB)."""

GRACE_SECONDS = 60
"""From the signal to stop to the end of the pod: what was measured is printed within it."""

_KEPT_SECONDS = 900
"""How long the Job stays where nobody deleted it."""
_START_SECONDS = 900
"""To pull the image and to start, beside the load itself."""
_USER = 65532
_TRACE_ANNOTATION = "llmservice.dev/bench-trace"
_LABELS = {
    "app.kubernetes.io/name": "llmservice-bench",
    "app.kubernetes.io/component": "bench",
    "app.kubernetes.io/part-of": "llmservice",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySecret:
    """A Secret of clients' keys in the namespace of the Job, and the entry to use; empty for the first."""

    name: str
    entry: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """How the Job runs. `cpu` and `memory` as Kubernetes writes quantities.

    Of the CPU it takes more where the node has it, as a load generator that is held back measures itself.
    """

    image: str = IMAGE
    pull_secrets: tuple[str, ...] = ()
    key: KeySecret | None = None
    cpu: str = "1"
    memory: str = "4Gi"


def bench_job(
    namespace: str, arguments: Sequence[str], settings: JobSettings, *, at_most_seconds: float, trace: str = ""
) -> Manifest:
    """A Job of a new name that runs `llmservice bench` with these arguments once. `trace` is the content of a CSV."""
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "fsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(arguments, settings, has_trace=bool(trace))],
        "volumes": _volumes(settings.key, has_trace=bool(trace)),
    }
    if settings.pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in settings.pull_secrets]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": f"llmservice-bench-{secrets.token_hex(5)}",
            "namespace": namespace,
            "labels": dict(_LABELS),
        },
        "spec": {
            "backoffLimit": 0,  # a load that was sent once is not sent again
            "activeDeadlineSeconds": round(at_most_seconds) + _START_SECONDS,
            "ttlSecondsAfterFinished": _KEPT_SECONDS,
            "template": {
                "metadata": {"labels": dict(_LABELS), "annotations": {_TRACE_ANNOTATION: trace} if trace else {}},
                "spec": pod,
            },
        },
    }


def _container(arguments: Sequence[str], settings: JobSettings, *, has_trace: bool) -> Manifest:
    limits = {"memory": settings.memory, "ephemeral-storage": "6Gi"}
    mounts: list[Manifest] = [{"name": "scratch", "mountPath": "/tmp"}]  # noqa: S108  (a mount point)
    if settings.key:
        mounts.append({"name": "key", "mountPath": KEY_FOLDER, "readOnly": True})
    if has_trace:
        mounts.append({"name": "load", "mountPath": TRACE_FILE.rpartition("/")[0], "readOnly": True})
    return {
        "name": CONTAINER,
        "image": settings.image,
        "imagePullPolicy": "IfNotPresent",
        # The kubelet would expand $(NAME) in an argument; $$ is one $.
        "args": [argument.replace("$", "$$") for argument in arguments],
        "resources": {"requests": {"cpu": settings.cpu, **limits, "ephemeral-storage": "64Mi"}, "limits": limits},
        "securityContext": {**CONTAINER_SECURITY, "readOnlyRootFilesystem": True},
        "volumeMounts": mounts,
    }


def _volumes(key: KeySecret | None, *, has_trace: bool) -> list[Manifest]:
    volumes: list[Manifest] = [{"name": "scratch", "emptyDir": {"sizeLimit": "6Gi"}}]
    if key:
        items = {"items": [{"key": key.entry, "path": key.entry}]} if key.entry else {}
        volumes.append({"name": "key", "secret": {"secretName": key.name, "defaultMode": 0o440, **items}})
    if has_trace:
        field = {"fieldPath": f"metadata.annotations['{_TRACE_ANNOTATION}']"}
        path = TRACE_FILE.rpartition("/")[2]
        volumes.append({"name": "load", "downwardAPI": {"items": [{"path": path, "fieldRef": field}]}})
    return volumes
