"""SGLang: models in Hugging Face format, and GGUF files, on accelerators.

Facts are read from the released packages 0.5.9 to 0.5.23 (sglang/srt): server_args.py, arg_groups/,
entrypoints/{http_server,engine}.py, managers/{scheduler,tokenizer_manager}.py, configs/model_config.py, environ.py.
Which version knows which option is kept in the catalogue, recorded from the wheels. How it uses memory is not said: its
share (--mem-fraction-static) is worked out at the start from the card, the steps, the graphs and the version
(arg_groups/memory_hook.py), and no start was compared with that.
"""

from llmservice.engines.draining import SETTLE, SETTLE_SECONDS
from llmservice.engines.engine import (
    COMPILED_PATH,
    LEADER_ADDRESS,
    NODE_RANK,
    Capabilities,
    HttpProbe,
    Launch,
    Probes,
    ServingRequest,
    Syntax,
    WorkerLaunch,
)
from llmservice.engines.hugging_face import OFFLINE, one_of, quantization_on_load
from llmservice.engines.options import Options, known_words
from llmservice.engines.parallelism import Parallelism, ParallelUse
from llmservice.engines.sglang.log_patterns import SGLANG_LOG_PATTERNS
from llmservice.engines.sglang.metric_names import sglang_metric_names
from llmservice.engines.sglang.owned import SGLANG_OWNED
from llmservice.engines.sglang.start_log import start_report, start_times

_CACHE = "/cache"
_DTYPES = ("auto", "half", "float16", "bfloat16", "float", "float32")
_KV_CACHE_DTYPES = {
    **{name: name for name in ("auto", "fp8_e5m2", "fp8_e4m3", "mxfp8", "bf16", "bfloat16", "nvfp4")},
    **{name: name for name in ("fp4_mx_block16", "fp4_e2m1")},
    # What other engines mean by it.
    "fp8": "fp8_e4m3",
}
"""Of all versions; the rows of the catalogue say which lack one."""

_PROBES = Probes(
    startup=HttpProbe(path="/health", period_seconds=5, timeout_seconds=5, failures=1),
    readiness=HttpProbe(path="/health", period_seconds=5, timeout_seconds=15, failures=3),
    liveness=HttpProbe(path="/health_generate", period_seconds=30, timeout_seconds=25, failures=5),
)
"""Both paths are one function, which asks the scheduler for a token, sleeps a second, and waits up to twenty for any
answer: it tells a hang, but costs a step of an idle engine. With SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION=0 /health
says at once whether the server is up and not draining. Nothing listens until the model is loaded; then it is 503 until
a first request of the server's own was answered."""

_COMPILED = {
    "SGLANG_CACHE_DIR": COMPILED_PATH,
    "SGLANG_DG_CACHE_DIR": f"{COMPILED_PATH}/deep_gemm",
    "TRITON_CACHE_DIR": f"{COMPILED_PATH}/triton",
    "TORCHINDUCTOR_CACHE_DIR": f"{COMPILED_PATH}/inductor",
}
"""Versions before 0.5.19 do not point Triton and Inductor into their own folder. Names in these caches are hashes of
the source, the card and the version, and files are renamed into place."""

_ACROSS_NODES = ("--nnodes", "--node-rank", "--dist-init-addr")
_MEETING_PORT = 20000
"""Of --dist-init-addr, on the first node. A node with a rank above 0 serves nobody; once its model is loaded it has an
HTTP server that always says it is healthy (entrypoints/engine.py, launch_dummy_health_check_server), which tells
nothing that its process does not."""
_EXIT_SECONDS = 25
"""After SIGTERM it looks every five seconds whether requests are left, and then ends its processes."""


class Sglang:
    """SGLang's OpenAI server, `python3 -m sglang.launch_server`, as in its official images."""

    name = "sglang"
    capabilities = Capabilities(
        schemes=frozenset({"hf", "pvc", "oci"}),
        hub_cache=True,
        revisions=True,
        remote_code=True,
        dtype=True,
        float32=True,
        syntax=Syntax(abbreviations=True, variables="SGLANG_"),
        # Copies of the model are replicas here: each of SGLang's own would have these limits, and report for itself.
        parallelism=ParallelUse(flags={"tensor": "--tp-size", "pipeline": "--pp-size", "expert": "--ep-size"}),
        across_nodes=_ACROSS_NODES,
        offloads_to_host="--cpu-offload-gb",
        # configs/model_config.py, _derive_context_length.
        longer_context=("SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN", "--json-model-override-args"),
    )
    owned = SGLANG_OWNED
    flags = frozenset(
        (
            *("--model-path", "--revision", "--trust-remote-code", "--served-model-name", "--host", "--port"),
            *("--enable-metrics", "--uvicorn-access-log-exclude-prefixes", "--dtype", "--kv-cache-dtype"),
            *("--quantization", "--context-length", "--max-running-requests"),
            *("--tp-size", "--pp-size", "--ep-size", *_ACROSS_NODES),
        )
    )
    log_patterns = SGLANG_LOG_PATTERNS
    metric_names = staticmethod(sglang_metric_names)
    start_report = staticmethod(start_report)
    start_times = staticmethod(start_times)

    def launch(self, request: ServingRequest) -> Launch:
        """How to start and stop one replica; raises InvalidSpec naming the field."""
        wanted = (*_serving(request), *_model(request), *_numbers(request), *_capacity(request), *_nodes(request))
        command, args = ("python3", "-m", "sglang.launch_server"), known_words(request.version, wanted)
        return Launch(
            command=command,
            args=args,
            probes=_PROBES,
            environment=_environment(request),
            writable_paths=(_CACHE,),
            # It goes on taking requests, and ends when none is left, however long that takes.
            pre_stop=SETTLE,
            pre_stop_seconds=SETTLE_SECONDS,
            stop_seconds=_EXIT_SECONDS + request.drain_seconds,
            # The handler of SIGTERM is set with the first request (managers/tokenizer_manager.py).
            needs_init=True,
            # Images and large messages go from process to process through it, with one device too.
            needs_shared_memory=True,
            compiles=True,
            notes=_notes(request),
            worker=WorkerLaunch(command=command, args=args) if request.nodes > 1 else None,
        )


ENGINE = Sglang()


def _serving(request: ServingRequest) -> Options:
    """What excludes lines of the log takes every word up to the next option."""
    return (
        ("--uvicorn-access-log-exclude-prefixes", "/health", "/metrics"),
        (f"--served-model-name={request.names[0]}",),
        (f"--host={request.host}",),
        (f"--port={request.port}",),
        ("--enable-metrics",),
    )


def _model(request: ServingRequest) -> Options:
    """A GGUF file is recognized by its first bytes (server_args.py: check_gguf_file)."""
    model = request.model
    return (
        (f"--model-path={model.path or model.repository}",),
        *(((f"--revision={model.revision}",),) if model.revision else ()),
        *((("--trust-remote-code",),) if request.trust_remote_code else ()),
    )


def _numbers(request: ServingRequest) -> Options:
    """Number formats; what the checkpoint states itself is not repeated."""
    dtype, on_load = one_of(request.dtype, _DTYPES, "spec.dtype"), quantization_on_load(request)
    kv_cache_dtype = _kv_cache_dtype(request)
    return (
        *(((f"--dtype={dtype}",),) if dtype else ()),
        *(((f"--kv-cache-dtype={kv_cache_dtype}",),) if kv_cache_dtype else ()),
        *(((f"--quantization={on_load}",),) if on_load else ()),
    )


def _kv_cache_dtype(request: ServingRequest) -> str:
    asked = request.kv_cache_dtype
    if request.own_image:
        return _KV_CACHE_DTYPES.get(asked, asked)
    return _KV_CACHE_DTYPES.get(one_of(asked, tuple(_KV_CACHE_DTYPES), "spec.kvCacheDtype"), "")


def _capacity(request: ServingRequest) -> Options:
    """Concurrent requests and tokens per request; a KV cache with room for fewer tokens shortens what it accepts."""
    return (
        *(((f"--context-length={request.max_model_len}",),) if request.max_model_len else ()),
        (f"--max-running-requests={request.max_num_seqs}",),
        *(_parallel(request.parallelism) if request.devices else ()),
    )


def _parallel(shared: Parallelism) -> Options:
    """How devices share the model; what is one is not said, but for tensor."""
    return (
        (f"--tp-size={shared.tensor}",),
        *(((f"--pp-size={shared.pipeline}",),) if shared.pipeline > 1 else ()),
        *(((f"--ep-size={shared.expert}",),) if shared.expert > 1 else ()),
    )


def _nodes(request: ServingRequest) -> Options:
    """On several nodes: how many, the number of this one, and where they meet."""
    if request.nodes == 1:
        return ()
    meeting = f"--dist-init-addr={LEADER_ADDRESS}:{_MEETING_PORT}"
    return ((f"--nnodes={request.nodes}",), (f"--node-rank={NODE_RANK}",), (meeting,))


def _environment(request: ServingRequest) -> dict[str, str]:
    """Caches on the writable volume, and a name for a user id that the image does not know."""
    return {
        "HOME": _CACHE,
        "HF_HOME": f"{_CACHE}/huggingface",
        "USER": "sglang",
        "SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION": "0",
        **({"HF_HUB_CACHE": request.model.hub_cache} if request.model.hub_cache else {}),
        **(OFFLINE if request.model.offline else {}),
        **(_COMPILED if request.keeps_compiled else {}),
    }


def _notes(request: ServingRequest) -> tuple[str, ...]:
    if len(request.names) == 1:
        return ()
    return (f"/v1/models shows {request.names[0]} alone; requests for the other names are answered all the same",)
