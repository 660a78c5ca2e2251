"""llama.cpp's server: GGUF models on CPU and GPU.

Verified against build b11312 (commit 0c1e570): common/arg.cpp, tools/server/{server,server-context,server-http}.cpp,
common/{download,hf-cache}.cpp. The catalogue has its flags as listed by --help.
"""

import math
from collections.abc import Mapping

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.draining import SETTLE_SECONDS, wait_until_idle
from llmservice.engines.engine import (
    Capabilities,
    Default,
    Launch,
    ModelSource,
    ServingRequest,
    Syntax,
)
from llmservice.engines.gguf import one_file, quantization_in, whole_name
from llmservice.engines.health import health_probes
from llmservice.engines.llamacpp.beside import (
    ADAPTERS,
    DRAFT_SOURCES,
    FLAGS,
    PROJECTOR_SOURCES,
    TASKS,
    beside_defaults,
    beside_notes,
    beside_options,
    beside_variables,
    task_options,
)
from llmservice.engines.llamacpp.log_patterns import LLAMACPP_LOG_PATTERNS
from llmservice.engines.llamacpp.metric_names import llamacpp_metric_names
from llmservice.engines.llamacpp.owned import LLAMACPP_OWNED
from llmservice.engines.llamacpp.start_log import start_report, start_times
from llmservice.engines.memory_use import MemoryOptions, MemoryUse
from llmservice.engines.options import Options, known_words
from llmservice.engines.parallelism import ParallelUse
from llmservice.errors import InvalidSpec

_CACHE = "/cache"
_CONTEXT_STEP = 256
"""The context of a slot is a multiple of this many tokens (src/llama-context.cpp, n_ctx_seq)."""

_USUAL_QUANTIZATION = "Q4_K_M"
_FILE_LEFT_OPEN = (
    "the engine chooses the file: Q4_K_M where the repository has it, else Q8_0, else the first one; "
    "spec.quantization or spec.model.file decides it"
)
"""common/download.cpp (find_best_model), the same in all builds of the catalogue; with a tag only what matches it."""
_SAYS_DEVICES = "4"
"""The verbosity (trace) at which the library says what it computes on; at 3, the default, nobody can tell. The same in
all builds of the catalogue (common/log.{h,cpp}). It has three times as many lines for a request, without its text."""
_PROMPT_CACHE_MIB = 8192
_HTTP_THREADS = 256
"""A waiting request holds a thread. Threads beyond the first few (parallel + 4) start too late when requests arrive in
a burst, and /health waits behind them: up to 20 s in 3 of 4 trials with 30 requests, never with 256 threads of 30 kB
each (tools/server/server-http.cpp; cpp-httplib's ThreadPool)."""
_LOAD = "^llamacpp:requests_(processing|deferred) "
"""The lines of /metrics that count running and waiting requests."""

_KV_CACHE_DTYPES = ("f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1")

_MEMORY = MemoryUse(
    variants=frozenset({"cuda", "rocm", "xpu"}),
    utilization=1.0,
    # --ubatch-size
    step_tokens=512,
    divides_heads=False,
    reserves_requests=True,
    # Llama 3 8B at 8192 tokens, as it logs: "CUDA0 compute buffer size = 258.50 MiB". 0.3 to 1 GiB are seen in all.
    output_buffer=True,
    spread_gib=0.5,
    small_kv_dtype="q8_0",
    small_kv_in_hardware=False,
    quantizations=(_USUAL_QUANTIZATION, "Q8_0", "F16"),
    options=MemoryOptions(
        step_tokens="--ubatch-size",
        relieving=frozenset(
            (
                *("--cpu-moe", "-cmoe", "--n-cpu-moe", "-ncmoe", "--override-tensor", "-ot", "-ub"),
                *("--no-kv-offload", "-nkvo", "--no-mmproj-offload", "--override-kv"),
                *("--tensor-split", "-ts", "--rpc", "--device", "-dev"),
                *("LLAMA_ARG_CPU_MOE", "LLAMA_ARG_N_CPU_MOE", "LLAMA_ARG_OVERRIDE_TENSOR", "LLAMA_ARG_UBATCH"),
                *("LLAMA_ARG_KV_OFFLOAD", "LLAMA_ARG_NO_KV_OFFLOAD", "LLAMA_ARG_DEVICE", "LLAMA_ARG_RPC"),
            )
        ),
    ),
)
# Nothing listens during the download, then /health answers 503 until the model is loaded.
_PROBES = health_probes(startup_period_seconds=2)


class LlamaCpp:
    """llama.cpp's `llama-server`, as in its official images."""

    name = "llamacpp"
    capabilities = Capabilities(
        schemes=frozenset({"hf", "pvc", "oci"}),
        gguf=True,
        hub_cache=True,
        offload=True,
        equals_sign=False,
        syntax=Syntax(underscores=True, any_word=True, variables="LLAMA_ARG_"),
        # Whole layers on each device, or the rows of each matrix on all of them (include/llama.h, llama_split_mode).
        parallelism=ParallelUse(flags={"tensor": "--split-mode", "pipeline": ""}, rest="pipeline", combines=False),
        memory=_MEMORY,
        tasks=TASKS,
        projector=PROJECTOR_SOURCES,
        draft=DRAFT_SOURCES,
        adapters=ADAPTERS,
    )
    owned = LLAMACPP_OWNED
    flags = frozenset(
        (
            *("--host", "--port", "--metrics", "--slots", "--alias", "--model", "-hf", "-hff"),
            *("--ctx-size", "--parallel", "--no-kv-unified", "--kv-unified-per-slot", "--fit", "--n-gpu-layers"),
            *("--cache-type-k", "--cache-type-v", "--split-mode"),
            *FLAGS,
        )
    )
    log_patterns = LLAMACPP_LOG_PATTERNS
    metric_names = staticmethod(llamacpp_metric_names)
    start_report = staticmethod(start_report)
    start_times = staticmethod(start_times)

    def launch(self, request: ServingRequest) -> Launch:
        """How to start and stop one replica; raises InvalidSpec naming the field."""
        model, defaults, notes = _model(request)
        wanted = (
            *_serving(request),
            *model,
            *_capacity(request),
            *task_options(request),
            *beside_options(request),
        )
        return Launch(
            args=known_words(request.version, wanted),
            probes=_PROBES,
            environment={**_places(request.model), **_changeable(request)},
            writable_paths=(_CACHE,),
            # SIGTERM aborts running requests, so preStop waits for them; while loading, process 1 ignores SIGTERM.
            pre_stop=wait_until_idle(request, _LOAD),
            pre_stop_seconds=SETTLE_SECONDS + request.drain_seconds,
            stop_seconds=5,
            needs_init=True,
            defaults=(*defaults, *beside_defaults(request)),
            notes=(*notes, *beside_notes(request)),
        )


ENGINE = LlamaCpp()


def _serving(request: ServingRequest) -> Options:
    return (
        ("--host", request.host),
        ("--port", str(request.port)),
        ("--metrics",),
        ("--slots",),
        ("--alias", ",".join(request.names)),
    )


def _places(model: ModelSource) -> Mapping[str, str]:
    """Where it keeps what it downloads, or finds what is there; then it asks no hub for a newer one."""
    places = {"HOME": _CACHE, "LLAMA_CACHE": model.hub_cache or f"{_CACHE}/huggingface/hub"}
    return {**places, "LLAMA_ARG_OFFLINE": "1"} if model.hub_cache else places


def _model(request: ServingRequest) -> tuple[Options, tuple[Default, ...], tuple[str, ...]]:
    """Which file to load: from a volume by its path, from the hub by its quantization or name."""
    model, known = request.model, request.version.quantizations
    if model.path:
        path = one_file(model)
        return (("--model", path),), (), _stated(request, path.rpartition("/")[2])
    if model.file:
        file = whole_name(model.file)
        return (("-hf", model.repository), ("-hff", file)), (), _stated(request, file)
    if request.quantization != "auto":
        return (("-hf", f"{model.repository}:{request.quantization}"),), (), ()
    if stated := quantization_in(model.repository, known):
        default = Default(field="quantization", value=stated, reason="the repository's name states it")
        return (("-hf", f"{model.repository}:{stated}"),), (default,), ()
    return (("-hf", model.repository),), (), (_FILE_LEFT_OPEN,)


def _stated(request: ServingRequest, file: str) -> tuple[str, ...]:
    """A named file decides the quantization: a contradiction is refused, an unknown quantization is noted."""
    if request.quantization == "auto":
        return ()
    stated = quantization_in(file, {*request.version.quantizations, request.quantization})
    if stated and stated != request.quantization:
        raise InvalidSpec(
            Reason.QUANTIZATION_MISMATCH,
            f"{request.quantization} contradicts {file} ({stated}); omit spec.quantization, or name another file",
            field="spec.quantization",
        )
    return () if stated else (f"{file} decides the quantization; {request.quantization} was not checked",)


def _capacity(request: ServingRequest) -> Options:
    """One slot per concurrent request, each with exactly max_model_len tokens.

    A slot owns ctx-size / parallel tokens, rounded up to 256, and may use max_model_len of them. `--fit off` keeps the
    engine from shrinking either to fit the memory. Builds without --kv-unified-per-slot allow the rounded number.
    """
    slot = math.ceil(request.max_model_len / _CONTEXT_STEP) * _CONTEXT_STEP
    return (
        ("--ctx-size", str(slot * request.max_num_seqs)),
        ("--parallel", str(request.max_num_seqs)),
        ("--no-kv-unified",),
        ("--kv-unified-per-slot", str(request.max_model_len)),
        ("--fit", "off"),
        ("--n-gpu-layers", _device_layers(request)),
        *((("--split-mode", "row"),) if request.parallelism.tensor > 1 else ()),
        *_kv_cache(request.kv_cache_dtype, own_image=request.own_image),
    )


def _device_layers(request: ServingRequest) -> str:
    """Layers on the devices; the output layer counts as one (src/llama-model.cpp)."""
    if not request.devices:
        return "0"
    return "all" if request.offload_layers is None else str(request.offload_layers)


def _kv_cache(dtype: str, *, own_image: bool) -> Options:
    if not dtype:
        return ()
    if dtype not in _KV_CACHE_DTYPES and not own_image:
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            f"{dtype} is not one of {', '.join(_KV_CACHE_DTYPES)}; use one of them, or omit the field for f16",
            field="spec.kvCacheDtype",
        )
    return (("--cache-type-k", dtype), ("--cache-type-v", dtype))


def _changeable(request: ServingRequest) -> Mapping[str, str]:
    """Settings that users may override, as variables: theirs replace ours, and an argument overrides both.

    By default the engine ignores the container's limits: it counts the node's cores, and keeps up to 8 GiB of earlier
    prompts in memory, and it does not say what it computes on.
    """
    http_threads = max(_HTTP_THREADS, 4 * request.max_num_seqs)
    variables = {"LLAMA_ARG_UI": "0", "LLAMA_ARG_THREADS_HTTP": str(http_threads)}
    if request.devices:
        variables["LLAMA_ARG_LOG_VERBOSITY"] = _SAYS_DEVICES
    if request.cores and (not request.devices or request.offload_layers is not None):
        variables["LLAMA_ARG_THREADS"] = str(max(1, math.ceil(request.cores)))
    quarter = request.memory_bytes // 4 // 2**20
    if 0 < quarter < _PROMPT_CACHE_MIB:
        variables["LLAMA_ARG_CACHE_RAM"] = str(quarter)
    return {**variables, **beside_variables(request)}
