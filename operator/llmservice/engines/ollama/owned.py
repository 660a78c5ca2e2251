"""Ollama's variables that the operator sets, or keeps users from setting: each with what to do instead.

It has no options: `ollama serve` takes none (cmd/cmd.go), and what it reads is in envconfig/config.go.
"""

from collections.abc import Mapping

from llmservice.engines.engine import OwnedArguments

_RELIED_ON = "leave it out: the proxy, the probes and the health check rely on it"
_KEPT = "leave it out: the operator keeps models on a writable volume"
_ONE_MODEL = "leave it out: a replica serves the one model of spec.model.uri, loaded for good"
_DEVICES = "use spec.gpu.count (0 for CPU)"

_OWNED: Mapping[str, str] = {
    "use spec.maxModelLen": "OLLAMA_CONTEXT_LENGTH",
    "use spec.maxNumSeqs": "OLLAMA_NUM_PARALLEL OLLAMA_MAX_QUEUE",
    "use spec.kvCacheDtype": "OLLAMA_KV_CACHE_TYPE",
    "use spec.model.uri": "OLLAMA_MODEL",
    _RELIED_ON: "OLLAMA_HOST",
    _KEPT: "OLLAMA_MODELS OLLAMA_NOPRUNE",
    _ONE_MODEL: "OLLAMA_KEEP_ALIVE OLLAMA_MAX_LOADED_MODELS",
    _DEVICES: "OLLAMA_SCHED_SPREAD CUDA_VISIBLE_DEVICES HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES GPU_DEVICE_ORDINAL",
    "leave it out: what is asked of this service is answered by it, not by ollama.com": (
        "OLLAMA_NO_CLOUD OLLAMA_REMOTES OLLAMA_AUTH"
    ),
    "leave it out: it writes what clients ask to the disk": "OLLAMA_DEBUG_LOG_REQUESTS",
}
"""Remedy → variables."""

OLLAMA_OWNED = OwnedArguments(
    flags={},
    environment={name: remedy for remedy, names in _OWNED.items() for name in names.split()},
)
