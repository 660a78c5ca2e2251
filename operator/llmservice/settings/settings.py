"""Every setting of the operator; docs/reference/settings.md is made from this table."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from llmservice.settings import activators, readers
from llmservice.settings.variables import Variable, variable, variable_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an administrator sets for the whole operator.

    `catalogue` is namespace and name of a ConfigMap; None means the usual name in the operator's own namespace.
    `tolerations` are Kubernetes JSON, not yet checked beyond their shape.
    """

    namespaces: tuple[str, ...] = variable(
        (),
        read=readers.namespaces_in,
        meaning="Namespaces whose LLMServices are served, separated by commas.",
        shown="all",
        example="team-a,team-b",
    )
    workers: int = variable(
        16,
        read=readers.workers,
        meaning="Resources worked on at once, 1 to 256.",
        example="32",
    )
    context: str = variable(
        "",
        read=str,
        meaning="Context of the kubeconfig.",
        shown="the pod's service account, or the current context",
        example="production",
    )
    log_level: str = variable(
        "info",
        read=readers.log_level,
        meaning=f"Least level that is logged: {', '.join(readers.LOG_LEVELS)}.",
        example="debug",
    )
    log_format: Literal["text", "json"] = variable(
        "text",
        read=readers.log_format,
        meaning="text for people, json for machines: one object a line, with namespace, name and generation of the "
        "resource and the id of the pass. Credentials and prompts are hidden in both.",
        example="json",
    )
    probe_port: int = variable(
        0,
        read=readers.port,
        meaning="Port of /healthz and /readyz, plain HTTP as the kubelet asks, on all addresses; 0 means none.",
        example="8081",
    )
    metrics_port: int = variable(
        0,
        read=readers.port,
        meaning="Port of /metrics and /explain, HTTPS on all addresses, for those who may: see how-to/read-metrics.md; "
        "0 means none.",
        example="8443",
    )
    metrics_auth: Literal["kubernetes", "none"] = variable(
        "kubernetes",
        read=readers.metrics_auth,
        meaning="Who is answered on that port: with kubernetes those whose bearer token the API server knows and who "
        "may read what they ask for; with none everybody on this machine, by plain HTTP on its loopback address alone.",
        example="none",
    )
    tls_cert_file: str = variable(
        "",
        read=str,
        meaning="File with the certificate of that port and its chain, PEM; read again when it changes.",
        shown="none: each start signs one of its own",
        example="/var/run/secrets/llmservice-tls/tls.crt",
    )
    tls_key_file: str = variable(
        "",
        read=str,
        meaning="File with its private key, PEM.",
        example="/var/run/secrets/llmservice-tls/tls.key",
    )
    lease_namespace: str = variable(
        "",
        read=lambda text: readers.matching(readers.NAME, text, "a namespace"),
        meaning="Namespace of the Lease by which replicas elect a leader. Without it this process takes itself for "
        "the only one.",
        example="llmservice-system",
    )
    catalogue: tuple[str, str] | None = variable(
        None,
        read=readers.config_map,
        meaning="The ConfigMap, as namespace/name, whose rows stand over the shipped catalogue of engines and "
        "accelerators. It is watched; changes need no restart. See how-to/add-a-gpu-type.md.",
        shown="llmservice-catalogue in the operator's own namespace (llmservice-system outside a cluster)",
        example="platform/our-gpus",
    )
    platform: str = variable(
        "",
        read=lambda text: readers.matching(readers.NAME, text, "a platform"),
        meaning="How this cluster labels its nodes, by a name of the catalogue (gke, eks-karpenter, eks-auto, "
        "aks-karpenter, feature-discovery, …). Its term comes first in the node affinity: Karpenter makes nodes for "
        "that one only. Used when the labels of the nodes do not tell, or may not be read.",
        example="eks-karpenter",
    )
    image_mirrors: Mapping[str, str] = variable(
        factory=dict,
        read=readers.mirrors_in,
        meaning="Prefixes of the catalogue's images and what takes their place, separated by commas; the longest that "
        "fits wins. Images of engineOptions.image are taken as written.",
        example="docker.io=registry.example/hub,ghcr.io=registry.example/ghcr",
    )
    pull_secrets: tuple[str, ...] = variable(
        (),
        read=readers.secrets,
        meaning="Names of Secrets, separated by commas, that every pod pulls its image with, after its own. Each "
        "namespace needs Secrets of these names.",
        example="registry-credentials",
    )
    hf_endpoint: str = variable(
        "",
        read=readers.address,
        meaning="Address that engines fetch hf:// models from, in place of the Hugging Face hub (HF_ENDPOINT).",
        shown="the hub",
        example="https://hub.example",
    )
    engine_https_proxy: str = variable(
        "",
        read=readers.address,
        meaning="HTTPS_PROXY of the engines, without a password. The operator's own HTTPS_PROXY is never handed on.",
        example="http://proxy.example:3128",
    )
    engine_http_proxy: str = variable(
        "",
        read=readers.address,
        meaning="HTTP_PROXY of the engines, without a password.",
        example="http://proxy.example:3128",
    )
    engine_no_proxy: str = variable(
        "",
        read=lambda text: ",".join(readers.words(text)),
        meaning="NO_PROXY of the engines: hosts, domains and networks reached without the proxy.",
        example=".svc,.cluster.local,10.0.0.0/8",
    )
    tolerations: tuple[Mapping[str, Any], ...] = variable(
        (),
        read=readers.tolerations,
        meaning="Tolerations of every pod, as YAML or JSON; those of the accelerator and the resource are added.",
        example='[{"key": "team", "value": "ml", "effect": "NoSchedule"}]',
    )
    inspection: Literal["auto", "never"] = variable(
        "auto",
        read=readers.inspection,
        meaning="With auto a short Job beside the service reads what nobody knows of its model from the model's own "
        "files: see how-to/inspect.md. With never no model is inspected, whatever `spec.model.inspect` says.",
        example="never",
    )
    inspection_image: str = variable(
        "",
        read=readers.image,
        meaning="Image of that Job: the operator's own. A mirror of LLMSERVICE_IMAGE_MIRRORS takes its place.",
        shown="none: no model is inspected",
        example="registry.example/llmservice/operator:0.1.0",
    )
    inspection_seconds: int = variable(
        60,
        read=readers.seconds,
        meaning="Seconds that a service waits for that Job, 10 to 600, its image pull included; then it runs without "
        "what the Job would have told.",
        example="120",
    )
    download_image: str = variable(
        "",
        read=readers.image,
        meaning="Image of the Jobs that download models with `spec.model.cache` to their claims: the operator's own. A "
        "mirror of LLMSERVICE_IMAGE_MIRRORS takes its place.",
        shown="none: a resource with spec.model.cache is refused",
        example="registry.example/llmservice/operator:0.1.0",
    )
    downloads_at_once: int = variable(
        4,
        read=readers.downloads_at_once,
        meaning="Downloads that run at the same time in the cluster, 1 to 64; the others wait, and namespaces take "
        "turns.",
        example="2",
    )
    download_bandwidth: int = variable(
        0,
        read=readers.bandwidth,
        meaning="Bytes a second that each download takes at most: 100M, 1G; 0 means as many as there are.",
        example="100M",
    )
    stall_seconds: int = variable(
        120,
        read=readers.stall_seconds,
        meaning="Seconds without a token or a step, while requests run, after which an engine on devices counts as "
        "hung and is restarted, 60 to 3600; five times as long on CPUs. 0: engines are not watched: see "
        "how-to/stalls.md.",
        example="300",
    )
    monitoring_namespace: str = variable(
        "",
        read=lambda text: readers.matching(readers.NAME, text, "a namespace"),
        meaning="Namespace of the monitoring that reads the engines' metrics: the NetworkPolicy of every resource with "
        "`spec.networkPolicy` lets it in. It acts at once and restarts nothing.",
        example="monitoring",
    )
    activator: tuple[str, ...] = variable(
        (),
        read=activators.activator,
        meaning="What holds the requests of services without a replica: with on the pods of the activator in the "
        "operator's own namespace; or the control ports of such processes, as addresses separated by commas. Without "
        "it `minReplicas: 0` is refused: see how-to/zero.md.",
        example="on",
    )
    prometheus_url: str = variable(
        "",
        read=readers.address,
        meaning="Address of the Prometheus that resources with `autoscaling.source: Prometheus` are decided from.",
        example="http://prometheus.monitoring:9090",
    )
    prometheus_token_file: str = variable(
        "",
        read=str,
        meaning="File with the bearer token for that Prometheus; read anew for each query.",
        example="/var/run/secrets/prometheus/token",
    )


VARIABLES: tuple[Variable, ...] = tuple(map(variable_of, fields(Settings)))
