"""Ollama: GGUF models of its registry, of the hub and from volumes, on CPU and GPU.

Read at v0.17.4 and v0.32.15: envconfig/config.go, server/{routes,images,sched,auth}.go, types/model/name.go, cmd/cmd.go,
Dockerfile. It has variables where others have options, reports no metrics and drops what runs when it is stopped: a
proxy before it bounds, queues, counts and drains. How a replica starts is in `start_script.py`.
"""

from collections.abc import Mapping

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import (
    Capabilities,
    Default,
    HttpProbe,
    Launch,
    Probes,
    ServingRequest,
    Syntax,
)
from llmservice.engines.gguf import one_file, quantization_in, whole_name
from llmservice.engines.memory_use import MemoryOptions, MemoryUse
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.ollama.log_patterns import OLLAMA_LOG_PATTERNS
from llmservice.engines.ollama.names import FORM, Name, name_in
from llmservice.engines.ollama.owned import OLLAMA_OWNED
from llmservice.engines.ollama.start_log import start_report, start_times
from llmservice.engines.ollama.start_script import CREATE, PULL, STAGED, START
from llmservice.errors import InvalidSpec

SCHEME = "ollama"
_URI = f"{SCHEME}://"
_CACHE = "/cache"
_HUB = "hf.co"
"""The Hub speaks the protocol of Ollama's registry: huggingface.co/docs/hub/ollama."""
_FILE_LEFT_OPEN = (
    "the hub chooses the file: Q4_K_M where the repository has it, else another; "
    "spec.quantization or spec.model.file decides it"
)
_NEVER = "-1"
"""No device has this number, which is how all of them are hidden (docs/gpu.mdx)."""
_QUEUE = 512
"""Ollama's own (OLLAMA_MAX_QUEUE). The proxy sends no more than run at once; a model of which Ollama runs one request at
a time makes the others wait there."""
_KV_CACHE_DTYPES = ("f16", "q8_0", "q4_0")

_CLIENT_PATHS = (
    *("/v1/", "/", "/api/generate", "/api/chat", "/api/embed", "/api/embeddings"),
    *("/api/show", "/api/tags", "/api/ps", "/api/version"),
)
"""What asks and what looks (server/routes.go). The rest changes the models of the server, or shows its memory (pprof), and
asks for no key."""

_MEMORY = MemoryUse(
    variants=frozenset({"cuda", "rocm"}),
    utilization=1.0,
    step_tokens=512,
    divides_heads=False,
    reserves_requests=True,
    output_buffer=True,
    # What the scheduler leaves free on each device beside its estimate (ml/device.go, MinimumMemory).
    spread_gib=0.5,
    small_kv_dtype="q8_0",
    small_kv_in_hardware=False,
    quantizations=("Q4_K_M", "Q8_0", "F16"),
    options=MemoryOptions(relieving=frozenset({"OLLAMA_LLM_LIBRARY", "GGML_VK_VISIBLE_DEVICES"})),
)


class Ollama:
    """`ollama serve`, as in its official images, with one model."""

    name = "ollama"
    capabilities = Capabilities(
        schemes=frozenset({SCHEME, "hf", "pvc", "oci"}),
        proxied=True,
        client_paths=_CLIENT_PATHS,
        gguf=True,
        syntax=Syntax(variables="OLLAMA_"),
        memory=_MEMORY,
    )
    owned = OLLAMA_OWNED
    flags: frozenset[str] = frozenset()
    log_patterns = OLLAMA_LOG_PATTERNS
    start_report = staticmethod(start_report)
    start_times = staticmethod(start_times)

    def metric_names(self, _version: object) -> MetricNames:
        """None of its own: planning takes the proxy's."""
        return MetricNames()

    def launch(self, request: ServingRequest) -> Launch:
        """How to start and stop one replica; raises InvalidSpec naming the field."""
        names = _served(request.names)
        (how, source), defaults, notes = _model(request)
        return Launch(
            command=("/bin/sh", "-c", START, self.name),
            args=(how, source, *request.names),
            probes=_probes(names[0]),
            environment={**_places(request), **_capacity(request), **_devices(request)},
            writable_paths=(_CACHE,),
            stop_seconds=10,
            defaults=defaults,
            notes=notes,
        )


ENGINE = Ollama()

_Source = tuple[str, str]


def _served(names: tuple[str, ...]) -> tuple[Name, ...]:
    """The names of the resource as Ollama's; raises InvalidSpec for one that Ollama would refuse."""
    found = [(name, name_in(name)) for name in names]
    for name, parts in found:
        if parts is None or name.startswith(STAGED):
            raise InvalidSpec(
                Reason.UNSUPPORTED_FIELD,
                f"{name} is no name of a model here: write {FORM}, each part of 80 characters at most",
                field="spec.model.names",
            )
    return tuple(parts for _, parts in found if parts)


def _model(request: ServingRequest) -> tuple[_Source, tuple[Default, ...], tuple[str, ...]]:
    """How the model is fetched and from where, with the defaults and notes that follow."""
    model = request.model
    if model.path:
        return (CREATE, _whole_file(one_file(model))), (), ()
    if model.scheme == SCHEME:
        return (PULL, _of_registry(request)), (), ()
    return _of_hub(request)


def _whole_file(path: str) -> str:
    if "-00001-of-" in path:
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            f"{path} is the first part of a split model, which this engine does not load: merge the parts with "
            "llama-gguf-split, or use an engine that loads them",
            field="spec.model.file",
        )
    return path


def _of_registry(request: ServingRequest) -> str:
    """The name in a registry; raises InvalidSpec for fields that its tag decides."""
    name = request.model.repository.removeprefix(_URI)
    if name_in(name) is None:
        raise InvalidSpec(Reason.INVALID_SPEC, f"{name} is no name of a model: write {FORM}", field="spec.model.uri")
    if request.quantization != "auto":
        message = "the tag in spec.model.uri decides it; remove it, and name the tag that has this quantization"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.quantization")
    if request.model.file:
        message = "the tag in spec.model.uri decides it; remove it"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.model.file")
    return name


def _of_hub(request: ServingRequest) -> tuple[_Source, tuple[Default, ...], tuple[str, ...]]:
    """The repository by the name under which the hub's own registry has it; the tag is a quantization or a file."""
    model, known = request.model, request.version.quantizations
    defaults: tuple[Default, ...] = ()
    if model.file:
        tag = whole_name(model.file).rpartition("/")[2]
    elif request.quantization != "auto":
        tag = request.quantization
    elif tag := quantization_in(model.repository, known):
        defaults = (Default(field="quantization", value=tag, reason="the repository's name states it"),)
    name = f"{_HUB}/{model.repository}{':' if tag else ''}{tag}"
    if name_in(name) is None:
        raise InvalidSpec(
            Reason.UNSUPPORTED_MODEL_SOURCE,
            f"{name} is no name of a model here: write {FORM}, each part of 80 characters at most; or set "
            "spec.model.cache, which downloads the file to a claim",
            field="spec.model.uri",
        )
    return (PULL, name), defaults, () if tag else (_FILE_LEFT_OPEN,)


def _probes(name: Name) -> Probes:
    """Ready when the model has its name, which it is given when it is loaded; alive as long as the server answers."""
    named = f'"name":"{name.shown}"'
    return Probes(
        startup=HttpProbe(path="/api/tags", period_seconds=2, timeout_seconds=5, failures=1, expects=named),
        readiness=HttpProbe(path="/api/tags", period_seconds=5, timeout_seconds=15, failures=3, expects=named),
        liveness=HttpProbe(path="/api/version", period_seconds=15, timeout_seconds=15, failures=10),
    )


def _places(request: ServingRequest) -> Mapping[str, str]:
    return {
        "HOME": _CACHE,
        "TMPDIR": _CACHE,
        "OLLAMA_MODELS": f"{_CACHE}/ollama",
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
    """None of them on the CPU: the image asks for every device that the node's runtime has. All, where it has several:
    Ollama would take one if the model fits.
    """
    if not request.devices:
        return {"CUDA_VISIBLE_DEVICES": _NEVER, "ROCR_VISIBLE_DEVICES": _NEVER}
    return {"OLLAMA_SCHED_SPREAD": "1"} if request.devices > 1 else {}
