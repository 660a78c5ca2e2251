"""What vLLM says at its start.

Lines of 0.10.2 to 0.33.0: `Initializing a V1 LLM engine` (v1/engine/core.py, with `device_config=` and the parallel
sizes of config/vllm.py), `Available KV cache memory` (v1/worker/gpu_worker.py, of one worker: that is one device),
`GPU KV cache size` and `Maximum concurrency` (v1/core/kv_cache_utils.py: two lines up to 0.28, one from 0.31, where a
CPU says `CPU KV cache size`), `# cuda blocks` (executor_base.py, engine V0 in 0.10). The platform line is at DEBUG
since 0.20. The KV cache is the last of it: 12 to 30 kB into the log, behind the configuration and a line for each file.
"""

from llmservice.engines.start_report import CPU, StartReport, decimal, size_in, whole_in
from llmservice.engines.start_times import StartTimes, longest
from llmservice.engines.timed_log import TimedLog
from llmservice.models.sizes import GIB
from llmservice.untrusted.patterns import compiled, finder

_PLATFORM = compiled(r"Automatically detected platform (?P<name>[a-z]{1,12})")
_DEVICE = compiled(r"[ ,(]device_config=(?P<name>[a-z]{1,12})")
_BLOCKS = compiled(r"# (?P<name>[A-Za-z]{1,12}) blocks: [0-9]")
_ROCM = compiled(r"Using (AttentionBackendEnum\.)?ROCM_")
"""PyTorch calls AMD's devices cuda too; the attention backend tells them apart."""
_TENSOR_PARALLEL = compiled(r"[ ,(]tensor_parallel_size=(?P<devices>[0-9]{1,4})")
_PIPELINE_PARALLEL = compiled(r"[ ,(]pipeline_parallel_size=(?P<devices>[0-9]{1,4})")
_KV_MEMORY = compiled(r"Available KV cache memory: (?P<gib>[0-9.]{1,12}) GiB")
_KV_TOKENS = compiled(r"KV cache size: (?P<tokens>[0-9,]{1,20}) tokens")
_CONCURRENCY = compiled(
    r"Maximum concurrency for (?P<tokens>[0-9,]{1,16}) tokens per request: (?P<requests>[0-9.,]{1,16})x"
)

_DOWNLOAD = finder(r"Time spent downloading weights for [^\n]{1,256}: (?P<seconds>[0-9.]{1,16}) seconds")
"""model_executor/model_loader/weight_utils.py; only where it took more than half a second."""
_LOADED = finder(r"(Model loading took|Loading model weights took) [0-9.]{1,12} Gi?B")
"""v1/worker/gpu_model_runner.py, once for each worker; the second form is that of other platforms."""
_COMPILED = finder(
    r"torch\.compile (takes|took|and initial profiling/warmup run together took) (?P<seconds>[0-9.]{1,16}) s in total"
)
"""compilation/monitor.py: the forms up to 0.15, from 0.21 on, and between them."""


def start_report(text: str) -> StartReport:
    """What the beginning of the log says."""
    backend = _backend(text)
    memory, concurrency = _KV_MEMORY.first(text), _CONCURRENCY.first(text)
    return StartReport(
        backend=backend,
        device_count=_devices(text) if backend not in {CPU, None} else None,
        kv_bytes=size_in(memory["gib"], GIB) if memory else None,
        kv_tokens=whole_in(_KV_TOKENS.first(text), "tokens"),
        full_length_requests=decimal(concurrency["requests"]) if concurrency else None,
        request_tokens=whole_in(concurrency, "tokens"),
    )


def start_times(log: TimedLog) -> StartTimes:
    """What the beginning of the log says of the parts of the start. Weights that are there are not downloaded."""
    return StartTimes(
        download_seconds=longest(_DOWNLOAD, log.text),
        loaded_at=log.last(_LOADED),
        compile_seconds=longest(_COMPILED, log.text),
    )


def _backend(text: str) -> str | None:
    for pattern in (_PLATFORM, _DEVICE, _BLOCKS):
        if found := pattern.first(text):
            name = found["name"].lower()
            return "rocm" if name == "cuda" and _ROCM.is_in(text) else name
    return None


def _devices(text: str) -> int | None:
    tensor = _TENSOR_PARALLEL.first(text)
    if tensor is None:
        return None
    return (whole_in(tensor, "devices") or 1) * (whole_in(_PIPELINE_PARALLEL.first(text), "devices") or 1)
