"""vLLM's options that the operator sets, or keeps users from setting: each with what to do instead."""

from collections.abc import Mapping

from llmservice.engines.engine import KEYS_INSTEAD
from llmservice.engines.hugging_face import CACHE_VARIABLES, QUANTIZATION, TOKEN_VARIABLES, quantization_instead
from llmservice.engines.options import owned_arguments

_RELIED_ON = "leave it out: the Service, the probes and the metrics rely on it"
_GATEWAY = "leave it out: TLS belongs to a gateway in front"
_TENSOR = "use spec.gpu.count, or spec.gpu.parallelism.tensor where not all devices share each layer"
_STAGES = "use spec.gpu.parallelism.pipeline"
_COPIES = "use spec.gpu.parallelism.data for copies of the model in one replica, spec.replicas for more replicas"
_EXPERTS = "use spec.gpu.parallelism.expert"
_NODES = "use spec.gpu.nodes: each node of a replica has a pod, and the operator gives it its rank"
_ONE_NODE = "leave it out: the copies of a model in one replica are on one node"
_MODELSCOPE = (
    "leave it out: hf:// loads from the hub at HF_ENDPOINT, which spec.engineOptions.env may set to a mirror; copy a "
    "model of ModelScope to a claim (pvc://)"
)
_CACHES = "leave it out: the operator keeps caches on a writable volume"

_OWNED: Mapping[str, tuple[str, ...]] = {
    "use spec.model.uri": ("--model",),
    _MODELSCOPE: ("VLLM_USE_MODELSCOPE",),
    "use spec.model.revision": ("--revision",),
    "use spec.model.names": ("--served-model-name",),
    "use spec.model.tokenSecretRef": ("--hf-token", *TOKEN_VARIABLES),
    "use spec.model.trustRemoteCode": ("--trust-remote-code --no-trust-remote-code",),
    "use spec.model.task": ("--runner --task",),
    "use spec.adapters": ("--enable-lora --no-enable-lora --disable-lora --lora-modules",),
    "use spec.adapterUpdates": ("VLLM_ALLOW_RUNTIME_LORA_UPDATING",),
    "use spec.dtype": ("--dtype",),
    "use spec.kvCacheDtype": ("--kv-cache-dtype",),
    QUANTIZATION: ("--quantization -q",),
    "use spec.maxModelLen": ("--max-model-len",),
    "use spec.maxNumSeqs": ("--max-num-seqs", "--max-num-active-seqs"),
    "use spec.drain.timeoutSeconds": ("--shutdown-timeout",),
    _NODES: ("--nnodes -n --node-rank -r --master-addr --master-port --headless",),
    _ONE_NODE: (
        "--data-parallel-size-local -dpl --data-parallel-rank -dpn --data-parallel-start-rank -dpr",
        "--data-parallel-address -dpa --data-parallel-rpc-port -dpp --data-parallel-backend -dpb",
        "--data-parallel-multi-port-external-lb -dpm --data-parallel-supervisor-port",
        "--data-parallel-external-lb --no-data-parallel-external-lb -dpe",
        "--data-parallel-hybrid-lb --no-data-parallel-hybrid-lb -dph",
    ),
    _TENSOR: ("--tensor-parallel-size -tp",),
    _STAGES: ("--pipeline-parallel-size -pp",),
    _COPIES: ("--data-parallel-size -dp",),
    _EXPERTS: ("--enable-expert-parallel -ep --no-enable-expert-parallel --disable-expert-parallel",),
    _RELIED_ON: (
        "--host --port --uds --grpc --grpc-port",
        "--disable-log-stats",
    ),
    "leave it out: write its options as args, in a file they would escape the operator": ("--config",),
    "leave it out: it opens administrative endpoints to every client": ("VLLM_SERVER_DEV_MODE",),
    _CACHES: ("--download-dir", *CACHE_VARIABLES, "VLLM_CACHE_ROOT"),
    KEYS_INSTEAD: ("--api-key VLLM_API_KEY",),
    _GATEWAY: (
        "--ssl-keyfile --ssl-certfile --ssl-ca-certs --ssl-cert-reqs --ssl-ciphers",
        "--enable-ssl-refresh --no-enable-ssl-refresh --disable-ssl-refresh",
    ),
}
"""Remedy → options in every spelling, and variables."""

VLLM_OWNED = owned_arguments(_OWNED, beginnings=True, by_value={QUANTIZATION: quantization_instead})
