"""The Job that looks at a model where its service is: with the service's own token and claim, which nobody else reads.

It runs `llmservice inspect` of the operator's image, restricted and bounded, and answers in its termination message.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from llmservice.api.v1alpha1.engine_options import EnvVar, File
from llmservice.api.v1alpha1.resource import GROUP, KIND, VERSION, LLMService
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.engine import MODELS_PATH
from llmservice.models.claim_uri import claim_uri
from llmservice.objects.names import INSPECTION_CONTAINER, INSPECTION_PREFIX
from llmservice.objects.references import Manifest
from llmservice.planning.facts import RegistrySettings
from llmservice.planning.images import mirrored
from llmservice.planning.security import CONTAINER_SECURITY
from llmservice.planning.service_plan import Mount
from llmservice.planning.volumes import file_mounts
from llmservice.rendering.container import mount_of
from llmservice.rendering.pod import volume_of

KEPT_SECONDS = 3600
"""How long a Job that has ended stays: who asks meanwhile, after a restart too, finds its answer."""
ANSWER_PATH = "/dev/termination-log"
_CLAIM, _HUB, _REPOSITORY = "pvc://", "hf://", "?repo="
_TOKEN = "HF_TOKEN"  # noqa: S105  (a name, not a secret)
_USER = 65532
"""That of the operator's image (Dockerfile)."""
_AUTHORITIES = frozenset({"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"})
_PROXIES = frozenset({"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"})
_ROUTE = _PROXIES | {name.lower() for name in _PROXIES} | _AUTHORITIES | {"HF_ENDPOINT"}
"""The user's variables that change how a hub is reached. The operator's admission policy has the same list."""
_ANSWERING_PART = 0.75
"""Of the Job's time for the question; the rest is for the image and the start."""
_LABELS = {
    "app.kubernetes.io/name": "llmservice-inspect",
    "app.kubernetes.io/component": "inspection",
    "app.kubernetes.io/part-of": "llmservice",
    "app.kubernetes.io/managed-by": "llmservice-operator",
}
"""Without the label of the service: neither its Service nor its Deployment, nor a watch of ours, selects this pod."""
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
    """Whether a model lies where it can be looked at: on a hub or on a claim."""
    uri = service.spec.model.uri
    return "://" not in uri or uri.startswith((_HUB, _CLAIM))


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
    owner = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": KIND,
        "name": service.metadata.name,
        "uid": service.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": False,
    }
    metadata = {
        "name": INSPECTION_PREFIX + hashlib.blake2b(asked, digest_size=10).hexdigest(),
        "namespace": service.metadata.namespace,
        "labels": dict(_LABELS),
        "ownerReferences": [owner],
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def _pod(spec: LLMServiceSpec, registry: RegistrySettings, settings: InspectionSettings) -> Manifest:
    mounts = _mounts(spec)
    pull_secrets = dict.fromkeys((*(one.name for one in spec.pod.image_pull_secrets), *registry.pull_secrets))
    optional: dict[str, Any] = {
        "volumes": [volume_of(mount) for mount in mounts],
        "imagePullSecrets": [{"name": name} for name in pull_secrets],
        **_placement(spec, registry),
    }
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 5,
        "securityContext": _security(spec),
        "containers": [_container(spec, registry, settings, mounts)],
        **{name: value for name, value in optional.items() if value},
    }


def _placement(spec: LLMServiceSpec, registry: RegistrySettings) -> Manifest:
    """Anywhere for a hub; for a claim where the user wants the pods: it may be reachable, or is bound, there alone."""
    everywhere = [dict(one) for one in registry.tolerations]
    if not spec.model.uri.startswith(_CLAIM):
        return {"tolerations": everywhere}
    own = spec.pod.as_json()
    nodes = {"nodeAffinity": own.get("affinity", {}).get("nodeAffinity")}
    return {
        "nodeSelector": own.get("nodeSelector"),
        "affinity": nodes if nodes["nodeAffinity"] else None,
        "tolerations": [*everywhere, *own.get("tolerations", ())],
    }


def _security(spec: LLMServiceSpec) -> Manifest:
    """The user's ids, with which the engine reads the claim, too."""
    own = spec.pod.security_context
    context: Manifest = {
        "runAsNonRoot": True,
        "runAsUser": own.run_as_user or _USER,
        "runAsGroup": _USER if own.run_as_group is None else own.run_as_group,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    if own.fs_group is not None:
        context |= {"fsGroup": own.fs_group, "fsGroupChangePolicy": "OnRootMismatch"}
    if own.supplemental_groups:
        context["supplementalGroups"] = sorted(own.supplemental_groups)
    return context


def _container(
    spec: LLMServiceSpec, registry: RegistrySettings, settings: InspectionSettings, mounts: tuple[Mount, ...]
) -> Manifest:
    optional = {
        "env": _environment(spec, registry),
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
        **{name: value for name, value in optional.items() if value},
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
    elif not spec.model.uri.startswith(_CLAIM) or _REPOSITORY in spec.model.uri:
        yield f"--quantization={spec.quantization}"
    yield spec.model.uri


def _environment(spec: LLMServiceSpec, registry: RegistrySettings) -> list[Manifest]:
    """The cluster's settings, the token, then the user's own, each name once."""
    settings = {"HF_ENDPOINT": registry.hf_endpoint, **registry.proxies}
    chosen: dict[str, Manifest] = {name: {"name": name, "value": value} for name, value in settings.items() if value}
    if spec.model.token_secret_ref is not None:
        reference = {"secretKeyRef": spec.model.token_secret_ref.as_json()}
        chosen[_TOKEN] = {"name": _TOKEN, "valueFrom": reference}
    chosen.update({one.name: dict(one.as_json()) for one in spec.engine_options.env if one.name in _ROUTE})
    return [] if spec.model.uri.startswith(_CLAIM) else list(chosen.values())


def _mounts(spec: LLMServiceSpec) -> tuple[Mount, ...]:
    """A claim needs no hub, and so no authorities; a hub needs no claim."""
    on_claim = claim_uri(spec.model.uri)
    if on_claim is None:
        return file_mounts(tuple(_authorities(spec)), beside=())
    volume = {"persistentVolumeClaim": {"claimName": on_claim.claim, "readOnly": True}}
    return (Mount(name="models", path=MODELS_PATH, source=volume, read_only=True),)


def _authorities(spec: LLMServiceSpec) -> Iterator[File]:
    """The user's files that such a variable names; with a variable from elsewhere, which is not known here, all."""
    named = [one for one in spec.engine_options.env if one.name in _AUTHORITIES]
    yield from (file for file in spec.engine_options.files if any(_names(one, file) for one in named))


def _names(variable: EnvVar, file: File) -> bool:
    value = variable.value
    return value is None or file.path == value or file.path.startswith(value.rstrip("/") + "/")
