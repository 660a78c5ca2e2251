"""Settings of the operator process, read once from the environment; frozen.

`VARIABLES` is the whole list; docs/reference/settings.md is made from it.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

import yaml

from llmservice.errors import InvalidSpec

PREFIX = "LLMSERVICE_"
LOG_LEVELS = ("debug", "info", "warning", "error")

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_OBJECT_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_IMAGE_PREFIX = re.compile(r"[A-Za-z0-9][\w.-]*(:\d+)?(/[\w.-]+)*(:\w[\w.-]*)?/?")
_MOST_WORKERS = 256
_HIGHEST_PORT = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an administrator sets for the whole operator; `VARIABLES` says what each field means.

    `catalogue` is namespace and name of a ConfigMap; None means the usual name in the operator's own namespace.
    `tolerations` are Kubernetes JSON, not yet checked beyond their shape.
    """

    namespaces: tuple[str, ...] = ()
    workers: int = 16
    context: str = ""
    log_level: str = "info"
    log_format: Literal["text", "json"] = "text"
    port: int = 0
    lease_namespace: str = ""
    catalogue: tuple[str, str] | None = None
    platform: str = ""
    image_mirrors: Mapping[str, str] = field(default_factory=dict)
    pull_secrets: tuple[str, ...] = ()
    hf_endpoint: str = ""
    engine_https_proxy: str = ""
    engine_http_proxy: str = ""
    engine_no_proxy: str = ""
    tolerations: tuple[Mapping[str, Any], ...] = ()
    prometheus_url: str = ""
    prometheus_token_file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One environment variable: the field it sets, how its text is read, and what the reference says of it.

    `read` raises ValueError with a message that ends with the way out.
    """

    field: str
    read: Callable[[str], Any]
    meaning: str
    default: str
    example: str

    @property
    def name(self) -> str:
        """The variable's name."""
        return PREFIX + self.field.upper()


def settings_from(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings an environment names; an empty variable is as good as none. Raises InvalidSpec naming it."""
    return Settings(
        **{
            variable.field: _read(variable, text)
            for variable in VARIABLES
            if (text := environment.get(variable.name, "").strip())
        }
    )


def mirrors_in(text: str) -> dict[str, str]:
    """`prefix=prefix,…` as a mapping; raises ValueError."""
    mirrors: dict[str, str] = {}
    for pair in _words(text):
        old, _, new = (part.strip() for part in pair.partition("="))
        if not (_IMAGE_PREFIX.fullmatch(old) and _IMAGE_PREFIX.fullmatch(new)):
            raise ValueError(f"{pair!r}: write PREFIX=PREFIX without https://, as in docker.io=registry.example/hub")
        if old in mirrors:
            raise ValueError(f"{old} is given twice: keep one")
        mirrors[old] = new
    return mirrors


def _read(variable: Variable, text: str) -> Any:
    try:
        return variable.read(text)
    except ValueError as error:
        raise InvalidSpec("InvalidSetting", str(error), field=variable.name) from error


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _namespaces(text: str) -> tuple[str, ...]:
    return tuple(sorted({_matching(_NAME, word, "a namespace") for word in _words(text)}))


def _secrets(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_matching(_OBJECT_NAME, word, "the name of a Secret") for word in _words(text)))


def _matching(form: re.Pattern[str], word: str, what: str) -> str:
    if not form.fullmatch(word):
        raise ValueError(f"{word!r} is not {what}: use lower-case letters, digits and '-'")
    return word


def _config_map(text: str) -> tuple[str, str]:
    namespace, _, name = text.partition("/")
    if not (_NAME.fullmatch(namespace) and _OBJECT_NAME.fullmatch(name)):
        raise ValueError(f"{text!r} is not namespace/name of a ConfigMap: write it as in llmservice-system/our-gpus")
    return namespace, name


def _workers(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= _MOST_WORKERS):
        raise ValueError(f"{text!r} is not a number from 1 to {_MOST_WORKERS}")
    return int(text)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) <= _HIGHEST_PORT):
        raise ValueError(f"{text!r} is not a port from 1 to {_HIGHEST_PORT}, or 0 for none")
    return int(text)


def _log_format(text: str) -> str:
    if text.lower() not in {"text", "json"}:
        raise ValueError(f"{text!r} is no format: use text or json")
    return text.lower()


def _log_level(text: str) -> str:
    if text.lower() not in LOG_LEVELS:
        raise ValueError(f"{text!r} is no level: use one of {', '.join(LOG_LEVELS)}")
    return text.lower()


def _url(text: str) -> str:
    """An address that every reader of an LLMService may see: it stands in its pods and in its status."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("is not an address: write http://HOST:PORT or https://HOST")
    if parts.username or parts.password:
        raise ValueError(
            "holds a user or password, which everybody could read in pods and status: remove it, and set the variable "
            "from a Secret in spec.engineOptions.env of the resources that need it"
        )
    return text.rstrip("/")


def _tolerations(text: str) -> tuple[Mapping[str, Any], ...]:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"is not YAML or JSON: {' '.join(str(error).split())}; write a list of tolerations") from error
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise ValueError("must be a list of tolerations, as in [{key: team, value: ml, effect: NoSchedule}]")
    return tuple(found)


VARIABLES: tuple[Variable, ...] = (
    Variable(
        field="namespaces",
        read=_namespaces,
        meaning="Namespaces whose LLMServices are served, separated by commas.",
        default="all",
        example="team-a,team-b",
    ),
    Variable(
        field="workers",
        read=_workers,
        meaning="Resources worked on at once, 1 to 256.",
        default="16",
        example="32",
    ),
    Variable(
        field="context",
        read=str,
        meaning="Context of the kubeconfig.",
        default="the pod's service account, or the current context",
        example="production",
    ),
    Variable(
        field="log_level",
        read=_log_level,
        meaning=f"Least level that is logged: {', '.join(LOG_LEVELS)}.",
        default="info",
        example="debug",
    ),
    Variable(
        field="log_format",
        read=_log_format,
        meaning="text for people, json for machines: one object a line, with namespace, name and generation of the "
        "resource and the id of the pass. Credentials and prompts are hidden in both.",
        default="text",
        example="json",
    ),
    Variable(
        field="port",
        read=_port,
        meaning="Port of /healthz, /readyz and /metrics, on all addresses; 0 means none.",
        default="0",
        example="8080",
    ),
    Variable(
        field="lease_namespace",
        read=lambda text: _matching(_NAME, text, "a namespace"),
        meaning="Namespace of the Lease by which replicas elect a leader. Without it this process takes itself for "
        "the only one.",
        default="none",
        example="llmservice-system",
    ),
    Variable(
        field="catalogue",
        read=_config_map,
        meaning="The ConfigMap, as namespace/name, whose rows stand over the shipped catalogue of engines and "
        "accelerators. It is watched; changes need no restart. See how-to/add-a-gpu-type.md.",
        default="llmservice-catalogue in the operator's own namespace (llmservice-system outside a cluster)",
        example="platform/our-gpus",
    ),
    Variable(
        field="platform",
        read=lambda text: _matching(_NAME, text, "a platform"),
        meaning="How this cluster labels its nodes, by a name of the catalogue (gke, eks-karpenter, eks-auto, "
        "aks-karpenter, feature-discovery, …). Its term comes first in the node affinity: Karpenter makes nodes for "
        "that one only. Used when the labels of the nodes do not tell, or may not be read.",
        default="none",
        example="eks-karpenter",
    ),
    Variable(
        field="image_mirrors",
        read=mirrors_in,
        meaning="Prefixes of the catalogue's images and what takes their place, separated by commas; the longest that "
        "fits wins. Images of engineOptions.image are taken as written.",
        default="none",
        example="docker.io=registry.example/hub,ghcr.io=registry.example/ghcr",
    ),
    Variable(
        field="pull_secrets",
        read=_secrets,
        meaning="Names of Secrets, separated by commas, that every pod pulls its image with, after its own. Each "
        "namespace needs Secrets of these names.",
        default="none",
        example="registry-credentials",
    ),
    Variable(
        field="hf_endpoint",
        read=_url,
        meaning="Address that engines fetch hf:// models from, in place of the Hugging Face hub (HF_ENDPOINT).",
        default="the hub",
        example="https://hub.example",
    ),
    Variable(
        field="engine_https_proxy",
        read=_url,
        meaning="HTTPS_PROXY of the engines, without a password. The operator's own HTTPS_PROXY is never handed on.",
        default="none",
        example="http://proxy.example:3128",
    ),
    Variable(
        field="engine_http_proxy",
        read=_url,
        meaning="HTTP_PROXY of the engines, without a password.",
        default="none",
        example="http://proxy.example:3128",
    ),
    Variable(
        field="engine_no_proxy",
        read=lambda text: ",".join(_words(text)),
        meaning="NO_PROXY of the engines: hosts, domains and networks reached without the proxy.",
        default="none",
        example=".svc,.cluster.local,10.0.0.0/8",
    ),
    Variable(
        field="tolerations",
        read=_tolerations,
        meaning="Tolerations of every pod, as YAML or JSON; those of the accelerator and the resource are added.",
        default="none",
        example='[{"key": "team", "value": "ml", "effect": "NoSchedule"}]',
    ),
    Variable(
        field="prometheus_url",
        read=_url,
        meaning="Address of the Prometheus that resources with `autoscaling.source: Prometheus` are decided from.",
        default="none",
        example="http://prometheus.monitoring:9090",
    ),
    Variable(
        field="prometheus_token_file",
        read=str,
        meaning="File with the bearer token for that Prometheus; read anew for each query.",
        default="none",
        example="/var/run/secrets/prometheus/token",
    ),
)
