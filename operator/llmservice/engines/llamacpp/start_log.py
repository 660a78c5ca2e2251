"""What llama.cpp's server says at its start.

Lines of builds b9445 to b11312. At its own verbosity (3) a server says no more than "no usable GPU found"; what the
library says (devices, layers, buffers) needs 4 (common/log.h, common/arg.cpp), which is what the operator sets on
devices. Then all of it is within the first 10 kB of a small model's log (b11312 on a CPU), and 24 kB into that of a
27B model of 66 layers with a draft model and an image encoder, each line with a time before it; values of the file's
header are cut by the engine.
"""

from llmservice.engines.start_report import (
    CPU,
    MOST_DEVICES,
    StartReport,
    device_name,
    size_in,
    whole,
    whole_in,
)
from llmservice.engines.start_times import StartTimes, seconds_between
from llmservice.engines.timed_log import TimedLog
from llmservice.untrusted.patterns import compiled, finder

_MIB = 2**20

_USING = finder(
    r"using device (?P<id>[A-Za-z]{1,16}[0-9]{0,3}) \((?P<name>[^\n]{1,120}?)\)( \([^()\n]{0,40}\))? - [0-9]+ MiB free"
)
"""src/llama.cpp, once for each device; newer builds add its address on the bus."""
_OFFLOADED = finder(r"offloaded (?P<some>[0-9]{1,5})/(?P<all>[0-9]{1,5}) layers to GPU")
"""src/llama-model.cpp; builds without any GPU backend leave it out."""
_KV_BUFFER = finder(
    r"llama_kv_cache[a-z_]*: +(?P<id>[A-Za-z_]{1,24}[0-9]{0,3}) KV buffer size = +(?P<mib>[0-9.]{1,16}) MiB"
)
"""src/llama-kv-cache.cpp, for each device with layers; of models with sliding windows two caches follow each other."""
_CONTEXT = compiled(r"llama_context: n_ctx += (?P<tokens>[0-9]{1,12})$")
_SLOTS = compiled(r"load_model: initializing[a-z ]{0,8}, n_slots = (?P<slots>[0-9]{1,6})")
_SLOT_TOKENS = compiled(r"(n_ctx_slot|new slot, n_ctx) = (?P<tokens>[0-9]{1,12})")
"""tools/server/server-context.cpp; the first of the two forms also at verbosity 3, and only in newer builds."""
_NO_GPU = compiled(r"no usable GPU found")
"""common/arg.cpp, on stderr at every verbosity when layers shall be on devices and there is none."""
_LISTED = finder(r"device_info:(\n[^\n]{0,60}  - [^\n]{0,200})+")
_LISTED_GPU = compiled(r"  - (CUDA|ROCm|SYCL|Vulkan|MUSA|CANN|OpenCL|Metal|RPC)[0-9]* *: ")

_LOADING = compiled(r"load_model: loading model '(?P<model>[^'\n]{1,256})'")
"""tools/server/server-context.cpp. A repository stands there by its name, and has been downloaded by then; of the
download itself nothing is said. A file stands there by its path: on a claim, or in the cache of an older build."""
_LOADED = compiled(r"(common_init_[a-z_]{0,16}: warming up the model|load_model: initializing[a-z ]{0,8}, n_slots)")
"""The first line after loading: the warm-up at verbosity 4 (common/common.cpp), else the slots, after it."""

_BACKENDS = {"CUDA": "cuda", "ROCm": "rocm", "HIP": "rocm", "SYCL": "xpu", "Vulkan": "vulkan", "MUSA": "musa"}
"""Prefix of a device's id → backend."""


def start_report(text: str) -> StartReport:
    """What the beginning of the log says."""
    devices = {found["id"]: device_name(f"{found['id']} ({found['name']})") for found in _USING.each(text)}
    devices.pop("CPU", None)
    some, layers = _layers(text)
    context = whole_in(_CONTEXT.first(text), "tokens")
    slot = whole_in(_SLOT_TOKENS.first(text), "tokens")
    return StartReport(
        backend=_backend(text, devices, some),
        devices=tuple(devices.values())[:MOST_DEVICES],
        device_count=len(devices) or None,
        offloaded_layers=some,
        layers=layers,
        kv_bytes=_kv_bytes(text),
        kv_tokens=context,
        full_length_requests=_requests(whole_in(_SLOTS.first(text), "slots"), context, slot),
        request_tokens=slot,
    )


def start_times(log: TimedLog) -> StartTimes:
    """What the beginning of the log says of the parts of the start; nothing is compiled."""
    loading = _LOADING.first(log.text)
    is_downloaded = loading is not None and not loading["model"].startswith("/")
    return StartTimes(
        download_seconds=seconds_between(log.began_at, log.first(_LOADING)) if is_downloaded else None,
        loaded_at=log.first(_LOADED),
    )


def _layers(text: str) -> tuple[int | None, int | None]:
    """Layers on devices, and all: of the last load, because a trial load may come before it."""
    found = None
    for found in _OFFLOADED.each(text):  # noqa: B007  (the last one)
        pass
    return (None, None) if found is None else (whole(found["some"]), whole(found["all"]))


def _requests(slots: int | None, context: int | None, slot: int | None) -> float | None:
    """As many as there are slots, or fewer where they share a cache that does not hold one for each."""
    if slots is None:
        return None
    return min(float(slots), context / slot) if context and slot else float(slots)


def _kv_bytes(text: str) -> int | None:
    """Mean over the devices; of the CPU's part only where there is no other."""
    sizes: dict[str, int] = {}
    for found in _KV_BUFFER.each(text):
        sizes[found["id"]] = sizes.get(found["id"], 0) + (size_in(found["mib"], _MIB) or 0)
    on_devices = {name: size for name, size in sizes.items() if not name.startswith("CPU")} or sizes
    return sum(on_devices.values()) // len(on_devices) if on_devices else None


def _backend(text: str, devices: dict[str, str], offloaded: int | None) -> str | None:
    if offloaded == 0 or _NO_GPU.is_in(text):
        return CPU
    for name in devices:
        prefix = name.rstrip("0123456789")
        return _BACKENDS.get(prefix, prefix.lower())
    lists = list(_LISTED.each(text))
    return CPU if lists and not _LISTED_GPU.is_in(text) else None
