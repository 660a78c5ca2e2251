"""SGLang's options that the operator sets, or keeps users from setting: each with what to do instead."""

from collections.abc import Mapping

from llmservice.engines.engine import KEYS_INSTEAD
from llmservice.engines.hugging_face import CACHE_VARIABLES, QUANTIZATION, TOKEN_VARIABLES, quantization_instead
from llmservice.engines.options import owned_arguments

_RELIED_ON = "leave it out: the Service, the probes and the metrics rely on it"
_MEASURED = "leave it out: a replica that was never asked for a token has no metrics"
_PER_DEVICE = "leave it out: each device would report the load of the replica, and it would be added up"
_GATEWAY = "leave it out: TLS belongs to a gateway in front"
_TENSOR = "use spec.gpu.count, or spec.gpu.parallelism.tensor where not all devices share each layer"
_STAGES = "use spec.gpu.parallelism.pipeline"
_EXPERTS = "use spec.gpu.parallelism.expert"
_NODES = "use spec.gpu.nodes: each node of a replica has a pod, and the operator gives it its rank"
_NO_RAY = "leave it out: a replica is no Ray cluster; use spec.gpu.nodes for several nodes"
_REPLICAS = "use spec.replicas or spec.autoscaling for copies of the model, each on spec.gpu.count devices"
_APART = "leave it out: prompts and answers are computed in the same pod"
_MODELSCOPE = (
    "leave it out: hf:// loads from the hub at HF_ENDPOINT, which spec.engineOptions.env may set to a mirror; copy a "
    "model of ModelScope to a claim (pvc://)"
)
_CACHES = "leave it out: the operator keeps caches on a writable volume"

_OWNED: Mapping[str, tuple[str, ...]] = {
    "use spec.model.uri": ("--model-path --model",),
    _MODELSCOPE: ("SGLANG_USE_MODELSCOPE",),
    "use spec.model.revision": ("--revision",),
    "use spec.model.names": ("--served-model-name",),
    "use spec.model.tokenSecretRef": TOKEN_VARIABLES,
    "use spec.model.trustRemoteCode": ("--trust-remote-code",),
    "use spec.dtype": ("--dtype",),
    "use spec.kvCacheDtype": ("--kv-cache-dtype",),
    QUANTIZATION: ("--quantization",),
    "use spec.maxModelLen": ("--context-length",),
    "use spec.maxNumSeqs": ("--max-running-requests",),
    "use spec.drain.timeoutSeconds": ("SGL_FORCE_SHUTDOWN SGLANG_FORCE_SHUTDOWN",),
    _TENSOR: ("--tp-size --tensor-parallel-size",),
    _STAGES: ("--pp-size --pipeline-parallel-size",),
    _EXPERTS: ("--ep-size --expert-parallel-size --ep",),
    _NODES: ("--nnodes --node-rank --dist-init-addr --nccl-init-addr",),
    _NO_RAY: ("--use-ray",),
    _REPLICAS: ("--dp-size --data-parallel-size",),
    _APART: ("--disaggregation-mode --encoder-only",),
    _RELIED_ON: ("--host --port --enable-metrics --grpc-mode --smg-grpc-mode",),
    _MEASURED: ("--skip-server-warmup",),
    _PER_DEVICE: ("--enable-metrics-for-all-schedulers",),
    "leave it out: the liveness probe asks for a token, the others do not": (
        "SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION",
    ),
    "leave it out: write its options as args, in a file they would escape the operator": ("--config",),
    _CACHES: ("--download-dir", *CACHE_VARIABLES),
    KEYS_INSTEAD: ("--api-key --admin-api-key",),
    _GATEWAY: ("--ssl-keyfile --ssl-certfile --ssl-ca-certs --ssl-keyfile-password --enable-ssl-refresh",),
}
"""Remedy → options in every spelling, and variables."""

SGLANG_OWNED = owned_arguments(_OWNED, beginnings=True, by_value={QUANTIZATION: quantization_instead})
