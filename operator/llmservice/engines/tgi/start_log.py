"""What TGI says at its start.

Lines of 3.0 to 3.3 (commit db931fc): `Cannot determine GPU compute capability` (launcher/src/gpu.rs, where PyTorch
finds no device), `Using attention … - Prefix caching …` and `Sharding model on … processes` (launcher/src/main.rs),
`KV-cache blocks` (server/…/flash_causal_lm.py) and `Setting max batch total tokens to` (backends/v3/src/lib.rs). Only
flashinfer and FlashDecoding prove a device: paged attention runs on the CPU and on Intel's devices too, and none of
these lines says which it is. All of it is within the first 20 kB, most of which is the list of arguments.
"""

from llmservice.engines.start_report import CPU, StartReport, whole, whole_in
from llmservice.engines.start_times import StartTimes, seconds_between
from llmservice.engines.timed_log import TimedLog
from llmservice.untrusted.patterns import compiled, finder

_NO_CAPABILITY = compiled(
    r"Cannot determine GPU compute capability: [^\n]{0,80}"
    r"(no NVIDIA driver|No CUDA GPUs|no CUDA-capable device|No HIP GPUs)"
)
"""PyTorch's words for no device; "Torch not compiled with CUDA enabled" is what Intel's image says on its devices."""
_ATTENTION = compiled(r"Using attention (flashinfer|flashdecoding) - Prefix caching ")
_SHARDS = compiled(r"Sharding model on (?P<devices>[0-9]{1,4}) processes")
_BLOCKS = compiled(r"KV-cache blocks: (?P<blocks>[0-9]{1,12}), size: (?P<size>[0-9]{1,6})")
_BATCH = compiled(r"Setting max batch total tokens to (?P<tokens>[0-9]{1,12})")
_GUESSED = compiled(r"Model does not support automatic max batch total tokens")
_ARGUMENT = compiled(r"max_total_tokens: Some\(\s{0,20}(?P<tokens>[0-9]{1,12})")

_CHECKING = compiled(r"Starting (check and )?download process")
_PRESENT = compiled(r"Files are already present on the host\. Skipping download")
_DOWNLOADED = compiled(r"Successfully downloaded weights")
"""launcher/src/main.rs, and server/text_generation_server/cli.py for files that are there."""
_SHARD_READY = finder(r"Shard ready in [0-9.]{1,16}[a-zµ]{1,2} rank=")
"""launcher/src/main.rs, once for each shard: its weights are loaded. The router warms the model up afterwards, which
includes the CUDA graphs."""

_GPU = "gpu"
"""A device of NVIDIA or AMD: the lines are the same."""


def start_report(text: str) -> StartReport:
    """What the beginning of the log says."""
    backend = _backend(text)
    tokens, each = _tokens(text), whole_in(_ARGUMENT.first(text), "tokens")
    return StartReport(
        backend=backend,
        device_count=whole_in(_SHARDS.first(text), "devices") if backend == _GPU else None,
        kv_tokens=tokens,
        full_length_requests=tokens / each if tokens and each else None,
        request_tokens=each if tokens and each else None,
    )


def start_times(log: TimedLog) -> StartTimes:
    """What the beginning of the log says of the parts of the start; nothing is said of compiling."""
    is_there = _PRESENT.is_in(log.text)
    download = seconds_between(log.first(_CHECKING), log.first(_DOWNLOADED))
    return StartTimes(download_seconds=0.0 if is_there else download, loaded_at=log.last(_SHARD_READY))


def _backend(text: str) -> str | None:
    if _NO_CAPABILITY.is_in(text):
        return CPU
    return _GPU if _ATTENTION.is_in(text) and _BLOCKS.is_in(text) else None


def _tokens(text: str) -> int | None:
    """Tokens the KV cache holds; None for the constant of models whose cache is not measured."""
    found = None if _GUESSED.is_in(text) else _BATCH.first(text)
    if found:
        return whole(found["tokens"])
    blocks = _BLOCKS.first(text)
    if blocks is None:
        return None
    return (whole(blocks["blocks"]) or 0) * (whole(blocks["size"]) or 0) or None
