"""SGLang's options that the operator sets, or keeps users from setting: each with what to do instead."""

from collections.abc import Iterator, Mapping

from llmservice.engines.engine import KEYS_INSTEAD, OwnedArguments
from llmservice.engines.hugging_face import CACHE_VARIABLES, QUANTIZATION, TOKEN_VARIABLES, quantization_instead

_RELIED_ON = "leave it out: the Service, the probes and the metrics rely on it"
_MEASURED = "leave it out: a replica that was never asked for a token has no metrics"
_PER_DEVICE = "leave it out: each device would report the load of the replica, and it would be added up"
_GATEWAY = "leave it out: TLS belongs to a gateway in front"
_ONE_POD = (
    "use spec.gpu.count: a replica is one pod and spreads over its devices by tensor parallelism; stages in a row "
    "(pipeline parallel) and several nodes are not possible"
)
_REPLICAS = (
    "use spec.replicas or spec.autoscaling for copies of the model, each on spec.gpu.count devices; to spread experts "
    "over the devices of a replica add --ep-size to the args"
)
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
    _ONE_POD: (
        "--tp-size --tensor-parallel-size --pp-size --pipeline-parallel-size",
        "--nnodes --node-rank --dist-init-addr --nccl-init-addr --use-ray",
    ),
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


def _owned() -> Iterator[tuple[str, str]]:
    """Every spelling: argparse also accepts an unambiguous beginning of an option (`--max-run`, `--tp`).

    Exact names come last, so that each has its own remedy and not that of a longer one that begins with it.
    """
    words = [(word, remedy) for remedy, options in _OWNED.items() for word in " ".join(options).split()]
    for word, remedy in words:
        for end in range(len("--x"), len(word) if word.startswith("--") else 0):
            yield word[:end], remedy
    yield from words


SGLANG_OWNED = OwnedArguments(
    flags={word: remedy for word, remedy in _owned() if word.startswith("-")},
    environment={word: remedy for word, remedy in _owned() if not word.startswith("-")},
    by_value={QUANTIZATION: quantization_instead},
)
