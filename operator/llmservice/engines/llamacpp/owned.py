"""llama.cpp's options that the operator sets, or keeps users from setting: each with what to do instead."""

from collections.abc import Mapping

from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.engine import KEYS_INSTEAD
from llmservice.engines.options import owned_arguments

_RELIED_ON = "leave it out: the Service, the probes and the metrics rely on it"
_GATEWAY = "leave it out: TLS belongs to a gateway in front"
_SHELL = "leave it out: it lets every client run programs in the pod or reach other hosts from it"
_ONE_MODEL = "leave it out: a replica serves the one model of spec.model.uri"

_LAYERS = "use spec.gpu.count (0 for CPU), and spec.gpu.offloadLayers for a part of the layers"
_SPLIT = "use spec.gpu.parallelism: tensor for rows on all devices, pipeline for whole layers"
_ALL_LAYERS = 99
"""The usual number for all of them."""

_OWNED: Mapping[str, tuple[str, ...]] = {
    "use spec.model.uri": ("-m --model LLAMA_ARG_MODEL", "-hf -hfr --hf-repo LLAMA_ARG_HF_REPO"),
    "use spec.model.file": ("-hff --hf-file LLAMA_ARG_HF_FILE",),
    "use spec.model.projector": (
        "-mm --mmproj LLAMA_ARG_MMPROJ",
        "-mmu --mmproj-url LLAMA_ARG_MMPROJ_URL",
    ),
    "use spec.model.draft": (
        "-md --model-draft --spec-draft-model LLAMA_ARG_SPEC_DRAFT_MODEL",
        "-hfd -hfrd --hf-repo-draft --spec-draft-hf LLAMA_ARG_SPEC_DRAFT_HF_REPO",
    ),
    "use spec.model.draft.tokens": ("--spec-draft-n-max LLAMA_ARG_SPEC_DRAFT_N_MAX",),
    "use spec.adapters": ("--lora --lora-scaled --lora-init-without-apply",),
    "use spec.model.task": (
        "--embedding --embeddings LLAMA_ARG_EMBEDDINGS",
        "--rerank --reranking LLAMA_ARG_RERANKING",
    ),
    "use spec.model.names": ("-a --alias LLAMA_ARG_ALIAS",),
    "use spec.model.tokenSecretRef": ("-hft --hf-token HF_TOKEN",),
    "use spec.maxModelLen": (
        "-c --ctx-size LLAMA_ARG_CTX_SIZE",
        "--kv-unified-per-slot LLAMA_ARG_KV_UNIFIED_PER_SLOT",
        "-kvu --kv-unified -no-kvu --no-kv-unified LLAMA_ARG_KV_UNIFIED LLAMA_ARG_NO_KV_UNIFIED",
        "-fit --fit LLAMA_ARG_FIT",
        "-fitt --fit-target LLAMA_ARG_FIT_TARGET",
        "-fitc --fit-ctx LLAMA_ARG_FIT_CTX",
    ),
    "use spec.maxNumSeqs": ("-np --parallel LLAMA_ARG_N_PARALLEL",),
    _LAYERS: ("-ngl --gpu-layers --n-gpu-layers LLAMA_ARG_N_GPU_LAYERS",),
    _SPLIT: ("-sm --split-mode LLAMA_ARG_SPLIT_MODE",),
    "use spec.kvCacheDtype": (
        "-ctk --cache-type-k LLAMA_ARG_CACHE_TYPE_K",
        "-ctv --cache-type-v LLAMA_ARG_CACHE_TYPE_V",
    ),
    _RELIED_ON: (
        "--host LLAMA_ARG_HOST",
        "--port LLAMA_ARG_PORT",
        "--reuse-port LLAMA_ARG_REUSE_PORT",
        "--api-prefix LLAMA_ARG_API_PREFIX",
        "--metrics LLAMA_ARG_ENDPOINT_METRICS",
        "--slots --no-slots LLAMA_ARG_ENDPOINT_SLOTS LLAMA_ARG_NO_ENDPOINT_SLOTS",
        "AIP_MODE AIP_HTTP_PORT AIP_HEALTH_ROUTE AIP_PREDICT_ROUTE",
    ),
    "leave it out: the operator keeps the cache on a writable volume": ("LLAMA_CACHE",),
    KEYS_INSTEAD: (
        "--api-key LLAMA_API_KEY",
        "--api-key-file LLAMA_ARG_API_KEY_FILE",
    ),
    _GATEWAY: (
        "--ssl-key-file LLAMA_ARG_SSL_KEY_FILE",
        "--ssl-cert-file LLAMA_ARG_SSL_CERT_FILE",
    ),
    _SHELL: (
        "--tools LLAMA_ARG_TOOLS",
        "--tools-runtime LLAMA_ARG_TOOLS_RUNTIME",
        "--mcp-servers-config LLAMA_ARG_MCP_SERVERS_CONFIG",
        "--mcp-servers-json LLAMA_ARG_MCP_SERVERS_JSON",
        "-ag --agent -no-ag --no-agent LLAMA_ARG_AGENT LLAMA_ARG_NO_AGENT",
        "--ui-mcp-proxy --webui-mcp-proxy --no-ui-mcp-proxy --no-webui-mcp-proxy",
        "LLAMA_ARG_UI_MCP_PROXY LLAMA_ARG_NO_UI_MCP_PROXY LLAMA_ARG_WEBUI_MCP_PROXY LLAMA_ARG_NO_WEBUI_MCP_PROXY",
    ),
    _ONE_MODEL: (
        "-mu --model-url LLAMA_ARG_MODEL_URL",
        "-dr --docker-repo LLAMA_ARG_DOCKER_REPO",
        "--models-dir LLAMA_ARG_MODELS_DIR",
        "--models-preset LLAMA_ARG_MODELS_PRESET",
        "--embd-gemma-default --fim-qwen-1.5b-default --fim-qwen-3b-default --fim-qwen-7b-default",
        "--fim-qwen-7b-spec --fim-qwen-14b-spec --fim-qwen-30b-default --gpt-oss-20b-default",
        "--gpt-oss-120b-default --vision-gemma-4b-default --vision-gemma-12b-default",
    ),
}
"""Remedy → options in every spelling, with their environment variables. Negated variables (`_NO_`) are read too."""


def _layers_instead(_version: EngineVersion, value: str) -> str:
    """The remedy for a number of layers."""
    if not (value.isascii() and value.isdigit()):
        return "leave it out: all layers go to the devices of spec.gpu" if value in {"all", "auto", "-1"} else ""
    if int(value) == 0:
        return "use spec.gpu.count: 0"
    if int(value) >= _ALL_LAYERS:
        return "leave it out: all layers go to the devices of spec.gpu; spec.gpu.offloadLayers is for a part of them"
    return f"use spec.gpu.offloadLayers: {int(value)}"


LLAMACPP_OWNED = owned_arguments(_OWNED, beginnings=False, by_value={_LAYERS: _layers_instead})
