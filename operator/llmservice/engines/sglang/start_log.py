"""What SGLang says at its start.

Lines of 0.4.4 to 0.5.23: `server_args=ServerArgs(…, tp_size=2, …)`, since 0.5.20 `server_args={'tp_size': 2, …}`
(entrypoints/engine.py), `Load weight end.` (model_executor/model_runner.py, once for each device), `KV Cache is
allocated.` (mem_cache/memory_pool.py, of one device), `max_total_num_tokens=…` (managers/scheduler.py; it names the
memory of a CPU apart from that of devices). One device holds a part of each token of the cache, so its number of tokens
is that of the replica.
"""

from llmservice.engines.start_report import CPU, StartReport, size_in, whole_in
from llmservice.engines.start_times import StartTimes, longest
from llmservice.engines.timed_log import TimedLog
from llmservice.models.sizes import GIB
from llmservice.untrusted.patterns import compiled, finder

_POOL = compiled(
    r"max_total_num_tokens=(?P<tokens>[0-9]{1,12}), [^\n]{0,400}context_len=(?P<each>[0-9]{1,12}), "
    r"available_(?P<kind>[cg])pu_mem="
)
_POOL_OF_OLD = compiled(r"max_total_num_tokens=(?P<tokens>[0-9]{1,12}), [^\n]{0,400}context_len=(?P<each>[0-9]{1,12})")
_DEVICE = compiled(r"[ {,(]'?device'?[=:] ?'(?P<name>[a-z]{1,12})'")
_ROCM = compiled(r"attention_backend'?[=:] ?'(aiter|wave)'")
"""PyTorch calls AMD's devices cuda too; the attention backend tells them apart."""
_DEVICES = compiled(r"[ {,(]'?tp_size'?[=:] ?(?P<devices>[0-9]{1,4})\b")
_HALVES = compiled(
    r"KV Cache is allocated\. [^\n]{0,80}K size: (?P<keys>[0-9.]{1,12}) GB, V size: (?P<values>[0-9.]{1,12}) GB"
)
_WHOLE = compiled(r"KV Cache is allocated\. [^\n]{0,80}KV size: (?P<all>[0-9.]{1,12}) GB")
"""Their GB are of 2^30 bytes."""

_LOADED = finder(r"Load weight end\. ")
_CAPTURED = finder(
    r"Capture (?:[a-z]{1,12} ){0,3}(?:CUDA|cuda) graph end\. [^\n]{0,20}elapsed[=:] ?(?P<seconds>[0-9.]{1,16}) s"
)


def start_report(text: str) -> StartReport:
    """What the beginning of the log says."""
    pool = _POOL.first(text)
    backend = CPU if pool and pool["kind"] == "c" else _backend(text)
    found = pool or _POOL_OF_OLD.first(text)
    tokens, each = whole_in(found, "tokens"), whole_in(found, "each")
    return StartReport(
        backend=backend,
        device_count=whole_in(_DEVICES.first(text), "devices") if backend not in {CPU, None} else None,
        kv_bytes=_kv_bytes(text),
        kv_tokens=tokens,
        full_length_requests=tokens / each if tokens and each else None,
        request_tokens=each if tokens and each else None,
    )


def start_times(log: TimedLog) -> StartTimes:
    """What the beginning of the log says of the parts of the start; a download is not told apart from loading."""
    return StartTimes(loaded_at=log.last(_LOADED), compile_seconds=longest(_CAPTURED, log.text))


def _backend(text: str) -> str | None:
    device = _DEVICE.first(text)
    if device is None:
        return None
    return "rocm" if device["name"] == "cuda" and _ROCM.is_in(text) else device["name"]


def _kv_bytes(text: str) -> int | None:
    if halves := _HALVES.first(text):
        keys, values = size_in(halves["keys"], GIB), size_in(halves["values"], GIB)
        return None if keys is None or values is None else keys + values
    whole = _WHOLE.first(text)
    return size_in(whole["all"], GIB) if whole else None
