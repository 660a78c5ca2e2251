"""What Ollama says at its start.

Lines of v0.17.4 (its own runners) and v0.32.15 (llama.cpp's server as a child), and those of the program that starts
it, `start_script.py`. A small model's start is 25 kB long; values of the file's header are cut by the engine.
"""

from llmservice.engines.start_report import CPU, MOST_DEVICES, StartReport, device_name, size_in, whole, whole_in
from llmservice.engines.start_times import StartTimes, seconds_between
from llmservice.engines.timed_log import TimedLog
from llmservice.untrusted.patterns import compiled, finder

_FOUND = finder(
    r'msg="inference compute" id=[^ \n]{1,80} (filter_id=[^ \n]{0,80} )?library=(?P<library>[A-Za-z]{1,16})'
    r'[^\n]{0,80}? name=(?P<id>[A-Za-z]{1,16}[0-9]{0,3}) description=("(?P<name>[^"\n]{1,120})"|(?P<word>[^ \n]{1,80}))'
)
"""discover/types.go, once for each device of each of the two servers; `library=cpu` where there is none."""
_OFFLOADED = finder(r"offloaded (?P<some>[0-9]{1,5})/(?P<all>[0-9]{1,5}) layers to GPU")
"""ml/backend/ggml/ggml.go and llama.cpp."""
_KV = finder(
    r'msg="kv cache" device=(?P<id>[A-Za-z]{1,16}[0-9]{0,3}) size="(?P<size>[0-9.]{1,16}) (?P<unit>[KMGT]?i?B)"'
)
"""ml/device.go. A line of the layout that was tried last counts: one for each device."""
_KV_BUFFER = finder(
    r"llama_kv_cache[a-z_]*: +(?P<id>[A-Za-z_]{1,24}[0-9]{0,3}) KV buffer size = +(?P<size>[0-9.]{1,16}) (?P<unit>MiB)"
)
"""llama.cpp, where it is the child."""
_LOAD = finder(
    r"Operation:commit [^\n]{0,200}?Parallel:(?P<slots>[0-9]{1,6}) [^\n]{0,200}?KvSize:(?P<tokens>[0-9]{1,12}) "
)
"""runner/llamarunner/runner.go, runner/ollamarunner/runner.go."""
_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_LIBRARIES = {"cuda": "cuda", "rocm": "rocm", "vulkan": "vulkan"}

_FETCHING = compiled(r"^llmservice: fetching [^/]")
"""Not a file of a volume, which begins with a slash: reading that belongs to loading."""
_FETCHED = compiled(r"^llmservice: fetched$")
_SERVING = compiled(r"^llmservice: serving ")


def start_report(text: str) -> StartReport:
    """What the beginning of the log says."""
    found = list(_FOUND.each(text))
    devices = {each["id"]: _name(each["id"], each["name"] or each["word"]) for each in found if each["library"] != CPU}
    some, layers = _layers(text)
    load = None
    for load in _LOAD.each(text):  # noqa: B007  (the last one)
        pass
    tokens, slots = whole_in(load, "tokens"), whole_in(load, "slots")
    return StartReport(
        backend=_backend([each["library"] for each in found], some),
        devices=tuple(devices.values())[:MOST_DEVICES],
        device_count=len(devices) or None,
        offloaded_layers=some,
        layers=layers,
        kv_bytes=_kv_bytes(text),
        kv_tokens=tokens,
        full_length_requests=float(slots) if slots else None,
        request_tokens=tokens // slots if tokens and slots else None,
    )


def start_times(log: TimedLog) -> StartTimes:
    """What the beginning of the log says of the parts of the start; nothing is compiled."""
    return StartTimes(
        download_seconds=seconds_between(log.first(_FETCHING), log.first(_FETCHED)),
        loaded_at=log.first(_SERVING),
    )


def _name(device: str, description: str) -> str:
    return device_name(f"{device} ({description})")


def _backend(libraries: list[str], offloaded: int | None) -> str | None:
    if offloaded == 0:
        return CPU
    if not libraries:
        return None
    library = libraries[-1].lower()
    return CPU if library == CPU else _LIBRARIES.get(library, library)


def _layers(text: str) -> tuple[int | None, int | None]:
    """Layers on devices, and all: of the last load, because trial loads may come before it."""
    found = None
    for found in _OFFLOADED.each(text):  # noqa: B007  (the last one)
        pass
    return (None, None) if found is None else (whole(found["some"]), whole(found["all"]))


def _kv_bytes(text: str) -> int | None:
    """Mean over the devices; of the CPU's part only where there is no other."""
    lines = list(_KV.each(text)) or list(_KV_BUFFER.each(text))
    sizes = {each["id"]: size_in(each["size"], _UNITS.get(each["unit"], 1)) or 0 for each in lines}
    on_devices = {name: size for name, size in sizes.items() if not name.startswith("CPU")} or sizes
    return sum(on_devices.values()) // len(on_devices) if on_devices else None
