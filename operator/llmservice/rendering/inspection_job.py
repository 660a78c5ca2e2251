"""The Job that looks at a model where its service is: with the service's own token and claim, which nobody else reads.

It runs `llmservice inspect` of the operator's image, restricted and bounded, and answers in its termination message.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.engine import MODELS_PATH
from llmservice.models.claim_uri import claim_uri
from llmservice.models.registry_uri import REGISTRY
from llmservice.objects.names import INSPECTION_CONTAINER, INSPECTION_PREFIX
from llmservice.objects.references import Manifest
from llmservice.planning.facts import RegistrySettings
from llmservice.planning.images import mirrored
from llmservice.planning.pod_plan import Mount
from llmservice.planning.security import CONTAINER_SECURITY
from llmservice.planning.volumes import file_mounts
from llmservice.rendering.container import mount_of
from llmservice.rendering.job_parts import (
    ANSWER_PATH,
    KEPT_SECONDS,
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

_CLAIM, _HUB, _REPOSITORY = "pvc://", "hf://", "?repo="
_ANSWERING_PART = 0.75
"""Of the Job's time for the question; the rest is for the image and the start."""
_LABELS = labels("inspect", "inspection")
_RESOURCES = {
    "requests": {"cpu": "20m", "memory": "64Mi", "ephemeral-storage": "16Mi"},
    "limits": {"cpu": "1", "memory": "256Mi", "ephemeral-storage": "64Mi"},
}
"""Seen: 53 MB of memory for a small model, 123 MB for a GGUF header of 31 MiB; 32 MiB is the longest that is read."""


_LOOKED_AT_SECONDS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectionSettings:
    """What an administrator says of inspections: the image (empty: there are none) and the time of each, in seconds."""

    image: str = ""
    seconds: int = 60


def is_inspectable(service: LLMService) -> bool:
    """Whether a model lies where it can be looked at: on a hub, in a registry or on a claim."""
    uri = service.spec.model.uri
    return "://" not in uri or uri.startswith((_HUB, REGISTRY, _CLAIM))


def inspection_job(service: LLMService, registry: RegistrySettings, settings: InspectionSettings) -> Manifest:
    """The Job of an inspectable service; of all services that ask for the same in the same way it has the same name.

    The service that asks first is its owner. Raises InvalidSpec for files that cannot be mounted.
    """
    spec = {
        "backoffLimit": 0,
        # Past its deadline a Job deletes its pod: until then the operator reads why there is no answer.
        "activeDeadlineSeconds": settings.seconds + _LOOKED_AT_SECONDS,
        "ttlSecondsAfterFinished": KEPT_SECONDS,
        "template": {"metadata": {"labels": dict(_LABELS)}, "spec": _pod(service.spec, registry, settings)},
    }
    asked = orjson.dumps([service.metadata.namespace, spec], option=orjson.OPT_SORT_KEYS)
    metadata = {
        "name": INSPECTION_PREFIX + hashlib.blake2b(asked, digest_size=10).hexdigest(),
        "namespace": service.metadata.namespace,
        "labels": dict(_LABELS),
        "ownerReferences": owned_by(service),
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def _pod(spec: LLMServiceSpec, registry: RegistrySettings, settings: InspectionSettings) -> Manifest:
    mounts = _mounts(spec)
    optional = {
        "volumes": [volume_of(mount) for mount in mounts],
        "imagePullSecrets": pull_secrets(spec, registry),
        **placement(spec, registry, at_claim=_is_on_claim(spec)),
    }
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 5,
        "securityContext": security(spec),
        "containers": [_container(spec, registry, settings, mounts)],
        **without_empty(optional),
    }


def _container(
    spec: LLMServiceSpec, registry: RegistrySettings, settings: InspectionSettings, mounts: tuple[Mount, ...]
) -> Manifest:
    optional = {
        "env": [] if _is_on_claim(spec) else environment(spec, registry),
        "volumeMounts": [mount_of(mount) for mount in mounts],
    }
    return {
        "name": INSPECTION_CONTAINER,
        "image": mirrored(settings.image, registry.mirrors),
        "imagePullPolicy": "IfNotPresent",
        "args": list(_arguments(spec, settings.seconds)),
        "resources": {name: dict(amounts) for name, amounts in _RESOURCES.items()},
        "securityContext": {**CONTAINER_SECURITY, "readOnlyRootFilesystem": True},
        "terminationMessagePath": ANSWER_PATH,
        "terminationMessagePolicy": "File",
        **without_empty(optional),
    }


def _arguments(spec: LLMServiceSpec, seconds: int) -> Iterator[str]:
    """None has a `$` in it, which the kubelet would expand: the forms of the fields have no room for one."""
    yield "inspect"
    yield f"--termination-log={ANSWER_PATH}"
    yield "--output=json"
    yield f"--timeout={max(1, int(seconds * _ANSWERING_PART))}"
    if spec.model.revision:
        yield f"--revision={spec.model.revision}"
    if spec.model.file:
        yield f"--file={spec.model.file}"
    elif not _is_on_claim(spec) or _REPOSITORY in spec.model.uri:
        yield f"--quantization={spec.quantization}"
    yield spec.model.uri


def _mounts(spec: LLMServiceSpec) -> tuple[Mount, ...]:
    """A claim needs no hub, and so no authorities; a hub needs no claim."""
    on_claim = claim_uri(spec.model.uri)
    if on_claim is None:
        return file_mounts(tuple(named_files(spec)), beside=())
    volume = {"persistentVolumeClaim": {"claimName": on_claim.claim, "readOnly": True}}
    return (Mount(name="models", path=MODELS_PATH, source=volume, read_only=True),)


def _is_on_claim(spec: LLMServiceSpec) -> bool:
    return spec.model.uri.startswith(_CLAIM)
