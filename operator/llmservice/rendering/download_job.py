"""The Job that downloads a model to a claim, before a device is taken.

It runs `llmservice download` of the operator's image in a restricted pod with the service's own Secrets, and answers in
its termination message. Of all services that want the same model on the same claim it has the same name, so that there
is one download, whoever asks. Kubernetes replaces its pod where that is killed; what was loaded is on the claim.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import orjson

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Json
from llmservice.engines.engine import MODELS_PATH
from llmservice.models.download_layout import BUCKET_SCHEMES, HUB_SCHEME, scheme_of
from llmservice.models.download_request import DownloadRequest
from llmservice.objects.names import DOWNLOAD_CONTAINER, DOWNLOAD_PREFIX, INTENT_ANNOTATION, KEEPS_NODE
from llmservice.objects.references import Manifest
from llmservice.planning.cache_plan import CachePlan
from llmservice.planning.facts import RegistrySettings
from llmservice.planning.images import mirrored
from llmservice.planning.pod_plan import Mount
from llmservice.planning.security import CONTAINER_SECURITY
from llmservice.planning.volumes import file_mounts
from llmservice.rendering.container import mount_of
from llmservice.rendering.job_parts import (
    ANSWER_PATH,
    KEPT_SECONDS,
    ROUTE,
    USER,
    environment,
    labels,
    named_files,
    owned_by,
    placement,
    pull_secrets,
    security,
    without_empty,
)
from llmservice.rendering.pod import volume_of

METRICS_PORT = 8000
RESUMED_AT_MOST = 6
"""How often Kubernetes replaces a pod that was killed or ran out of memory, after 10, 20, 40, … seconds; disruptions (a
drain, a preemption, a taint) do not count. Beyond that the operator makes a new Job, after a pause."""
_CLOUDS = ("AWS_", "GOOGLE_", "AZURE_")
_SLOWEST_BYTES = 10**6
"""Bytes a second: who is slower for the whole download is not waited for."""
_SHORTEST, _UNKNOWN, _LONGEST = 6 * 3600, 2 * 86_400, 7 * 86_400
"""Seconds that a Job may take: at least, where the size is not known, and at most."""
_TOLD_SECONDS = 120
"""Of them the last ones: the download ends by itself and answers, before Kubernetes would take its pod away."""
_GRACE_SECONDS = 30
_LABELS = labels("download", "download")
_SCRATCH = Mount(name="scratch", path="/tmp", source={"emptyDir": {"sizeLimit": "1Gi"}})  # noqa: S108  (a mount point)
_RESOURCES = {
    "requests": {"cpu": "250m", "memory": "256Mi", "ephemeral-storage": "64Mi"},
    "limits": {"cpu": "4", "memory": "2Gi", "ephemeral-storage": "1536Mi"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadSettings:
    """What an administrator says of downloads.

    `image` runs them (empty: there are none), `at_once` at the same time in the cluster, each with at most `bandwidth`
    bytes a second (0: as many as there are).
    """

    image: str = ""
    at_once: int = 4
    bandwidth: int = 0


def job_name(namespace: str, cache: CachePlan) -> str:
    """The name of the Job, the same for all services of a namespace that want the same model on the same claim."""
    asked = orjson.dumps([namespace, cache.claim, cache.request.key])
    return DOWNLOAD_PREFIX + hashlib.blake2b(asked, digest_size=10).hexdigest()


def seconds_for(cache: CachePlan, settings: DownloadSettings) -> int:
    """How long a download may take: by its size at a megabyte a second, twice as long as its own bandwidth allows."""
    if not cache.expected_bytes:
        return _UNKNOWN
    slowest = min(_SLOWEST_BYTES, settings.bandwidth / 2) if settings.bandwidth else _SLOWEST_BYTES
    return int(min(_LONGEST, max(_SHORTEST, cache.expected_bytes / slowest)))


def download_job(
    service: LLMService,
    cache: CachePlan,
    registry: RegistrySettings,
    settings: DownloadSettings,
    tolerations: Sequence[Json] = (),
) -> Manifest:
    """The Job for a model in `spec.model.cache`. Raises InvalidSpec for files that cannot be mounted.

    The service whose pass makes it is its owner. Where that one is deleted, the pod goes, and the next service that
    wants the model makes the Job again, which goes on where it was: nothing is left over, and no Job is ever
    changed. The annotation tells in which way it was asked for: with which token, at which place. `tolerations` are
    those of the replicas: their nodes may be the only ones that reach the volume.
    """
    seconds = seconds_for(cache, settings)
    template = {
        "metadata": {"labels": dict(_LABELS), "annotations": dict(KEEPS_NODE)},
        "spec": _tolerant(_pod(service.spec, cache, registry, settings, seconds), tolerations),
    }
    spec = {
        "backoffLimit": RESUMED_AT_MOST,
        "activeDeadlineSeconds": seconds,
        "ttlSecondsAfterFinished": KEPT_SECONDS,
        # Two pods must never write at once; and who is disrupted was not at fault.
        "podReplacementPolicy": "Failed",
        "podFailurePolicy": {
            "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
        },
        "template": template,
    }
    asked = hashlib.blake2b(orjson.dumps(spec, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()
    metadata = {
        "name": job_name(service.metadata.namespace, cache),
        "namespace": service.metadata.namespace,
        "labels": dict(_LABELS),
        "annotations": {INTENT_ANNOTATION: asked},
        "ownerReferences": owned_by(service),
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def _pod(
    spec: LLMServiceSpec, cache: CachePlan, registry: RegistrySettings, settings: DownloadSettings, seconds: int
) -> Manifest:
    mounts = _mounts(spec, cache)
    is_bucket = scheme_of(cache.request.uri) in BUCKET_SCHEMES
    optional = {
        "volumes": [volume_of(mount) for mount in mounts],
        "imagePullSecrets": pull_secrets(spec, registry),
        # By its name alone clouds know who it is; its token is mounted neither here nor in the engine's pod.
        "serviceAccountName": spec.pod.service_account_name if is_bucket else None,
        **placement(spec, registry, at_claim=True),
    }
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        # The claim's folder belongs to the group unless the user says otherwise, or a new volume could not be written.
        "securityContext": {"fsGroup": USER, "fsGroupChangePolicy": "OnRootMismatch", **security(spec)},
        "containers": [_container(spec, cache, registry, settings, seconds)],
        **without_empty(optional),
    }


def _tolerant(pod: Manifest, tolerations: Sequence[Json]) -> Manifest:
    own: list[Json] = pod.get("tolerations", [])
    return {**pod, **without_empty({"tolerations": [*own, *(one for one in tolerations if one not in own)]})}


def _container(
    spec: LLMServiceSpec, cache: CachePlan, registry: RegistrySettings, settings: DownloadSettings, seconds: int
) -> Manifest:
    variables = environment(spec, registry, _is_handed_on(cache.request))
    return {
        "name": DOWNLOAD_CONTAINER,
        "image": mirrored(settings.image, registry.mirrors),
        "imagePullPolicy": "IfNotPresent",
        "args": list(_arguments(cache.request, settings.bandwidth, seconds - _TOLD_SECONDS)),
        "env": [{"name": "HOME", "value": _SCRATCH.path}, *variables],
        "ports": [{"name": "metrics", "containerPort": METRICS_PORT, "protocol": "TCP"}],
        "resources": {name: dict(amounts) for name, amounts in _RESOURCES.items()},
        "securityContext": {**CONTAINER_SECURITY, "readOnlyRootFilesystem": True},
        "terminationMessagePath": ANSWER_PATH,
        "terminationMessagePolicy": "File",
        "volumeMounts": [mount_of(mount) for mount in _mounts(spec, cache)],
    }


def _arguments(request: DownloadRequest, bandwidth: int, seconds: int) -> Iterator[str]:
    """None has a `$` in it, which the kubelet would expand: the forms of the fields have no room for one."""
    yield "download"
    yield f"--root={MODELS_PATH}"
    yield f"--format={request.format}"
    yield f"--timeout={seconds}"
    yield f"--metrics-port={METRICS_PORT}"
    yield f"--termination-log={ANSWER_PATH}"
    options = {"revision": request.revision, "file": request.file, "quantization": request.quantization}
    yield from (f"--{name}={value}" for name, value in options.items() if value)
    if bandwidth:
        yield f"--bandwidth={bandwidth}"
    yield request.uri


def _mounts(spec: LLMServiceSpec, cache: CachePlan) -> tuple[Mount, ...]:
    claim = Mount(name="models", path=MODELS_PATH, source={"persistentVolumeClaim": {"claimName": cache.claim}})
    ours = (claim, _SCRATCH)
    return (*ours, *file_mounts(tuple(named_files(spec, _is_handed_on(cache.request))), beside=ours))


def _is_handed_on(request: DownloadRequest) -> Callable[[str], bool]:
    """Whether a variable of the user says how to reach where this model lies, and as whom."""
    is_hub = scheme_of(request.uri) == HUB_SCHEME
    return lambda name: name in ROUTE or (not is_hub and name.startswith(_CLOUDS))
