"""LMDeploy's options that the operator sets, or keeps users from setting: each with what to do instead."""

from collections.abc import Mapping

from llmservice.engines.engine import KEYS_INSTEAD
from llmservice.engines.hugging_face import CACHE_VARIABLES, TOKEN_VARIABLES
from llmservice.engines.options import owned_arguments

_RELIED_ON = "leave it out: the Service, the probes and the metrics rely on it"
_HEALTH_TOO = (
    "use spec.maxNumSeqs: this limit counts probes and scrapes too, so at it the kubelet would restart the replica"
)
_GATEWAY = "leave it out: TLS belongs to a gateway in front"
_ONE_POD = (
    "use spec.gpu.count: a replica is one pod and spreads over its devices by tensor parallelism; several nodes are "
    "not possible"
)
_REPLICAS = "use spec.replicas or spec.autoscaling for copies of the model, each on spec.gpu.count devices"
_APART = "leave it out: prompts and answers are computed in the same pod"
_MODELSCOPE = (
    "leave it out: hf:// loads from the hub at HF_ENDPOINT, which spec.engineOptions.env may set to a mirror; copy a "
    "model of another hub to a claim (pvc://)"
)
_CACHES = "leave it out: the operator keeps caches on a writable volume"

_OWNED: Mapping[str, tuple[str, ...]] = {
    "use spec.model.uri": ("--model-path",),
    _MODELSCOPE: ("LMDEPLOY_USE_MODELSCOPE LMDEPLOY_USE_OPENMIND_HUB",),
    "use spec.model.revision": ("--revision",),
    "use spec.model.names": ("--model-name",),
    "use spec.model.tokenSecretRef": TOKEN_VARIABLES,
    "use spec.model.trustRemoteCode": ("--trust-remote-code",),
    "use spec.dtype": ("--dtype",),
    "use spec.kvCacheDtype: int4, int8 or fp8": ("--quant-policy",),
    "use spec.maxModelLen": ("--session-len",),
    "use spec.maxNumSeqs": ("--max-batch-size",),
    _HEALTH_TOO: ("--max-concurrent-requests",),
    _ONE_POD: ("--tp --nnodes --node-rank --dist-init-addr",),
    _REPLICAS: ("--dp --dp-rank",),
    _APART: ("--role --migration-backend",),
    _RELIED_ON: ("--server-name --server-port --proxy-url --disable-metrics",),
    "leave it out: every client could end the replica": ("--allow-terminate-by-client",),
    _CACHES: ("--download-dir", *CACHE_VARIABLES),
    KEYS_INSTEAD: ("--api-keys",),
    _GATEWAY: ("--ssl",),
}
"""Remedy → options in every spelling, and variables."""

LMDEPLOY_OWNED = owned_arguments(_OWNED, beginnings=True)
