"""What the operator's own Jobs have in common: its image, restricted, with the user's ids, Secrets and files."""

from collections.abc import Callable, Iterator
from typing import Any

from llmservice.api.v1alpha1.engine_options import EnvVar, File
from llmservice.api.v1alpha1.resource import GROUP, KIND, VERSION, LLMService
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.objects.references import Manifest
from llmservice.planning.facts import RegistrySettings

ANSWER_PATH = "/dev/termination-log"
KEPT_SECONDS = 3600
"""How long a Job that has ended stays: who asks meanwhile, after a restart too, finds its answer."""

USER = 65532
"""That of the operator's image (Dockerfile)."""

_TOKEN = "HF_TOKEN"  # noqa: S105  (a name, not a secret)
_PROXIES = frozenset({"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"})
_AUTHORITIES = frozenset({"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"})
ROUTE = _PROXIES | {name.lower() for name in _PROXIES} | _AUTHORITIES | {"HF_ENDPOINT"}
"""The user's variables that change how a hub is reached. The operator's admission policy has the same list."""
_OF_FILES = ("_FILE", "_DIR", "_BUNDLE", "_PATH", "_CREDENTIALS")
"""How names of variables end whose values are paths: SSL_CERT_FILE, GOOGLE_APPLICATION_CREDENTIALS."""


def labels(purpose: str, component: str) -> dict[str, str]:
    """Without the label of the service: neither its Service nor its Deployment, nor a watch of ours, selects this."""
    return {
        "app.kubernetes.io/name": f"llmservice-{purpose}",
        "app.kubernetes.io/component": component,
        "app.kubernetes.io/part-of": "llmservice",
        "app.kubernetes.io/managed-by": "llmservice-operator",
    }


def owned_by(service: LLMService) -> list[Manifest]:
    """The reference that makes an object go with a service."""
    owner = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": KIND,
        "name": service.metadata.name,
        "uid": service.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": False,
    }
    return [owner]


def pull_secrets(spec: LLMServiceSpec, registry: RegistrySettings) -> list[Manifest]:
    """The Secrets that the image is pulled with, each once."""
    names = dict.fromkeys((*(one.name for one in spec.pod.image_pull_secrets), *registry.pull_secrets))
    return [{"name": name} for name in names]


def placement(spec: LLMServiceSpec, registry: RegistrySettings, *, at_claim: bool) -> Manifest:
    """Anywhere, or for a claim where the user wants the pods: it may be reachable, or is bound, there alone."""
    everywhere = [dict(one) for one in registry.tolerations]
    if not at_claim:
        return {"tolerations": everywhere}
    own = spec.pod.as_json()
    nodes = {"nodeAffinity": own.get("affinity", {}).get("nodeAffinity")}
    return {
        "nodeSelector": own.get("nodeSelector"),
        "affinity": nodes if nodes["nodeAffinity"] else None,
        "tolerations": [*everywhere, *own.get("tolerations", ())],
    }


def security(spec: LLMServiceSpec) -> Manifest:
    """The user's ids, with which the engine reads the claim, too."""
    own = spec.pod.security_context
    context: Manifest = {
        "runAsNonRoot": True,
        "runAsUser": own.run_as_user or USER,
        "runAsGroup": USER if own.run_as_group is None else own.run_as_group,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    if own.fs_group is not None:
        context |= {"fsGroup": own.fs_group, "fsGroupChangePolicy": "OnRootMismatch"}
    if own.supplemental_groups:
        context["supplementalGroups"] = sorted(own.supplemental_groups)
    return context


def environment(
    spec: LLMServiceSpec, registry: RegistrySettings, is_handed_on: Callable[[str], bool] = ROUTE.__contains__
) -> list[Manifest]:
    """The cluster's settings, the token, then those of the user's own that are handed on, each name once."""
    settings = {"HF_ENDPOINT": registry.hf_endpoint, **registry.proxies}
    chosen: dict[str, Manifest] = {name: {"name": name, "value": value} for name, value in settings.items() if value}
    if spec.model.token_secret_ref is not None:
        reference = {"secretKeyRef": spec.model.token_secret_ref.as_json()}
        chosen[_TOKEN] = {"name": _TOKEN, "valueFrom": reference}
    chosen.update({one.name: dict(one.as_json()) for one in spec.engine_options.env if is_handed_on(one.name)})
    return list(chosen.values())


def named_files(spec: LLMServiceSpec, is_handed_on: Callable[[str], bool] = ROUTE.__contains__) -> Iterator[File]:
    """The user's files that such a variable names; with a variable from elsewhere, which is not known here, all."""
    named = [one for one in spec.engine_options.env if one.name.endswith(_OF_FILES) and is_handed_on(one.name)]
    yield from (file for file in spec.engine_options.files if any(_names(one, file) for one in named))


def without_empty(fields: dict[str, Any]) -> Manifest:
    """The fields that say something, as the API server stores them."""
    return {name: value for name, value in fields.items() if value}


def _names(variable: EnvVar, file: File) -> bool:
    value = variable.value
    return value is None or file.path == value or file.path.startswith(value.rstrip("/") + "/")
