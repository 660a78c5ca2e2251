"""What Ollama is told: it has variables (envconfig/config.go) where others have options."""

from collections.abc import Mapping

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import ServingRequest
from llmservice.errors import InvalidSpec

CACHE = "/cache"
"""The writable volume: models, and the key that Ollama makes for itself."""
_NEVER = "-1"
"""No device has this number, which is how all of them are hidden (docs/gpu.mdx)."""
_QUEUE = 512
"""Ollama's own (OLLAMA_MAX_QUEUE). The proxy sends no more than run at once; where Ollama runs one request of a model
at a time, the others wait there."""
_KV_CACHE_DTYPES = ("f16", "q8_0", "q4_0")


def variables(request: ServingRequest) -> Mapping[str, str]:
    """Every variable of a replica; raises InvalidSpec naming the field."""
    return {**_places(request), **_capacity(request), **_devices(request)}


def _places(request: ServingRequest) -> Mapping[str, str]:
    return {
        "HOME": CACHE,
        "TMPDIR": CACHE,
        "OLLAMA_MODELS": f"{CACHE}/ollama",
        "OLLAMA_HOST": f"{request.host}:{request.port}",
        "OLLAMA_NOPRUNE": "1",  # what was fetched stays when the container is restarted, unfinished parts too
    }


def _capacity(request: ServingRequest) -> Mapping[str, str]:
    """One model, loaded for good, with a context of its own for each request at once."""
    return {
        "OLLAMA_CONTEXT_LENGTH": str(request.max_model_len),
        "OLLAMA_NUM_PARALLEL": str(request.max_num_seqs),
        "OLLAMA_MAX_QUEUE": str(max(_QUEUE, request.max_num_seqs)),
        "OLLAMA_MAX_LOADED_MODELS": "1",
        "OLLAMA_KEEP_ALIVE": "-1",
        "OLLAMA_NO_CLOUD": "1",
        **_kv_cache(request),
    }


def _kv_cache(request: ServingRequest) -> Mapping[str, str]:
    """A quantized KV cache needs flash attention (llm/server.go)."""
    dtype = request.kv_cache_dtype
    if not dtype:
        return {}
    if dtype not in _KV_CACHE_DTYPES and not request.own_image:
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            f"{dtype} is not one of {', '.join(_KV_CACHE_DTYPES)}; use one of them, or omit the field for f16",
            field="spec.kvCacheDtype",
        )
    flash = {} if dtype == _KV_CACHE_DTYPES[0] else {"OLLAMA_FLASH_ATTENTION": "1"}
    return {"OLLAMA_KV_CACHE_TYPE": dtype, **flash}


def _devices(request: ServingRequest) -> Mapping[str, str]:
    """None on the CPU: the image asks for every device that the node has. All of several: Ollama would take one."""
    if not request.devices:
        return {"CUDA_VISIBLE_DEVICES": _NEVER, "ROCR_VISIBLE_DEVICES": _NEVER}
    return {"OLLAMA_SCHED_SPREAD": "1"} if request.devices > 1 else {}
