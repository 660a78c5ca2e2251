"""vLLM's options that the operator sets, or keeps users from setting: each with what to do instead."""

from collections.abc import Iterator, Mapping

from llmservice.engines.engine import KEYS_INSTEAD, OwnedArguments
from llmservice.engines.hugging_face import CACHE_VARIABLES, QUANTIZATION, TOKEN_VARIABLES, quantization_instead

_RELIED_ON = "leave it out: the Service, the probes and the metrics rely on it"
_GATEWAY = "leave it out: TLS belongs to a gateway in front"
_ONE_POD = (
    "use spec.gpu.count: a replica is one pod and spreads over its devices by tensor parallelism; stages in a row "
    "(pipeline parallel) and several nodes are not possible"
)
_REPLICAS = (
    "use spec.replicas or spec.autoscaling for copies of the model, each on spec.gpu.count devices; to spread experts "
    "over the devices of a replica add --enable-expert-parallel to the args"
)
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
    "use spec.dtype": ("--dtype",),
    "use spec.kvCacheDtype": ("--kv-cache-dtype",),
    QUANTIZATION: ("--quantization -q",),
    "use spec.maxModelLen": ("--max-model-len",),
    "use spec.maxNumSeqs": ("--max-num-seqs", "--max-num-active-seqs"),
    "use spec.drain.timeoutSeconds": ("--shutdown-timeout",),
    _ONE_POD: (
        "--tensor-parallel-size -tp --pipeline-parallel-size -pp",
        "--nnodes -n --node-rank -r --master-addr --master-port --headless",
    ),
    _REPLICAS: (
        "--data-parallel-size -dp",
        "--data-parallel-size-local -dpl --data-parallel-rank -dpn --data-parallel-start-rank -dpr",
        "--data-parallel-address -dpa --data-parallel-rpc-port -dpp --data-parallel-backend -dpb",
        "--data-parallel-multi-port-external-lb -dpm --data-parallel-supervisor-port",
        "--data-parallel-external-lb --no-data-parallel-external-lb -dpe",
        "--data-parallel-hybrid-lb --no-data-parallel-hybrid-lb -dph",
    ),
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


def _owned() -> Iterator[tuple[str, str]]:
    """Every spelling: argparse also accepts an unambiguous prefix of an option (`--max-num-s`, `-t`)."""
    for remedy, options in _OWNED.items():
        for word in " ".join(options).split():
            shortest = len("--x") if word.startswith("--") else len("-x") if word.startswith("-") else len(word)
            for end in range(shortest, len(word) + 1):
                yield word[:end], remedy


VLLM_OWNED = OwnedArguments(
    flags={word: remedy for word, remedy in _owned() if word.startswith("-")},
    environment={word: remedy for word, remedy in _owned() if not word.startswith("-")},
    by_value={QUANTIZATION: quantization_instead},
)
