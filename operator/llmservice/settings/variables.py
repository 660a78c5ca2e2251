"""Every environment variable the operator reads; docs/reference/settings.md is made from this table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llmservice.settings import readers
from llmservice.settings.readers import LOG_LEVELS

PREFIX = "LLMSERVICE_"


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


VARIABLES: tuple[Variable, ...] = (
    Variable(
        field="namespaces",
        read=readers.namespaces_in,
        meaning="Namespaces whose LLMServices are served, separated by commas.",
        default="all",
        example="team-a,team-b",
    ),
    Variable(
        field="workers",
        read=readers.workers,
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
        read=readers.log_level,
        meaning=f"Least level that is logged: {', '.join(LOG_LEVELS)}.",
        default="info",
        example="debug",
    ),
    Variable(
        field="log_format",
        read=readers.log_format,
        meaning="text for people, json for machines: one object a line, with namespace, name and generation of the "
        "resource and the id of the pass. Credentials and prompts are hidden in both.",
        default="text",
        example="json",
    ),
    Variable(
        field="probe_port",
        read=readers.port,
        meaning="Port of /healthz and /readyz, plain HTTP as the kubelet asks, on all addresses; 0 means none.",
        default="0",
        example="8081",
    ),
    Variable(
        field="metrics_port",
        read=readers.port,
        meaning="Port of /metrics and /explain, HTTPS on all addresses, for those who may: see how-to/read-metrics.md; "
        "0 means none.",
        default="0",
        example="8443",
    ),
    Variable(
        field="metrics_auth",
        read=readers.metrics_auth,
        meaning="Who is answered on that port: with kubernetes those whose bearer token the API server knows and who "
        "may read what they ask for; with none everybody on this machine, by plain HTTP on its loopback address alone.",
        default="kubernetes",
        example="none",
    ),
    Variable(
        field="tls_cert_file",
        read=str,
        meaning="File with the certificate of that port and its chain, PEM; read again when it changes.",
        default="none: each start signs one of its own",
        example="/var/run/secrets/llmservice-tls/tls.crt",
    ),
    Variable(
        field="tls_key_file",
        read=str,
        meaning="File with its private key, PEM.",
        default="none",
        example="/var/run/secrets/llmservice-tls/tls.key",
    ),
    Variable(
        field="lease_namespace",
        read=lambda text: readers.matching(readers.NAME, text, "a namespace"),
        meaning="Namespace of the Lease by which replicas elect a leader. Without it this process takes itself for "
        "the only one.",
        default="none",
        example="llmservice-system",
    ),
    Variable(
        field="catalogue",
        read=readers.config_map,
        meaning="The ConfigMap, as namespace/name, whose rows stand over the shipped catalogue of engines and "
        "accelerators. It is watched; changes need no restart. See how-to/add-a-gpu-type.md.",
        default="llmservice-catalogue in the operator's own namespace (llmservice-system outside a cluster)",
        example="platform/our-gpus",
    ),
    Variable(
        field="platform",
        read=lambda text: readers.matching(readers.NAME, text, "a platform"),
        meaning="How this cluster labels its nodes, by a name of the catalogue (gke, eks-karpenter, eks-auto, "
        "aks-karpenter, feature-discovery, …). Its term comes first in the node affinity: Karpenter makes nodes for "
        "that one only. Used when the labels of the nodes do not tell, or may not be read.",
        default="none",
        example="eks-karpenter",
    ),
    Variable(
        field="image_mirrors",
        read=readers.mirrors_in,
        meaning="Prefixes of the catalogue's images and what takes their place, separated by commas; the longest that "
        "fits wins. Images of engineOptions.image are taken as written.",
        default="none",
        example="docker.io=registry.example/hub,ghcr.io=registry.example/ghcr",
    ),
    Variable(
        field="pull_secrets",
        read=readers.secrets,
        meaning="Names of Secrets, separated by commas, that every pod pulls its image with, after its own. Each "
        "namespace needs Secrets of these names.",
        default="none",
        example="registry-credentials",
    ),
    Variable(
        field="hf_endpoint",
        read=readers.address,
        meaning="Address that engines fetch hf:// models from, in place of the Hugging Face hub (HF_ENDPOINT).",
        default="the hub",
        example="https://hub.example",
    ),
    Variable(
        field="engine_https_proxy",
        read=readers.address,
        meaning="HTTPS_PROXY of the engines, without a password. The operator's own HTTPS_PROXY is never handed on.",
        default="none",
        example="http://proxy.example:3128",
    ),
    Variable(
        field="engine_http_proxy",
        read=readers.address,
        meaning="HTTP_PROXY of the engines, without a password.",
        default="none",
        example="http://proxy.example:3128",
    ),
    Variable(
        field="engine_no_proxy",
        read=lambda text: ",".join(readers.words(text)),
        meaning="NO_PROXY of the engines: hosts, domains and networks reached without the proxy.",
        default="none",
        example=".svc,.cluster.local,10.0.0.0/8",
    ),
    Variable(
        field="tolerations",
        read=readers.tolerations,
        meaning="Tolerations of every pod, as YAML or JSON; those of the accelerator and the resource are added.",
        default="none",
        example='[{"key": "team", "value": "ml", "effect": "NoSchedule"}]',
    ),
    Variable(
        field="monitoring_namespace",
        read=lambda text: readers.matching(readers.NAME, text, "a namespace"),
        meaning="Namespace of the monitoring that reads the engines' metrics: the NetworkPolicy of every resource with "
        "`spec.networkPolicy` lets it in. It acts at once and restarts nothing.",
        default="none",
        example="monitoring",
    ),
    Variable(
        field="prometheus_url",
        read=readers.address,
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
