"""vLLM: models in Hugging Face format on accelerators, and on CPU with the CPU image.

Facts are read from the released packages 0.10.2 to 0.33.0: engine/arg_utils.py, config/{model,cache,vllm}.py,
entrypoints/{common,openai}/cli_args.py, entrypoints/launchers/launcher.py, platforms/cpu.py, v1/worker/*_worker.py.
Which version knows which option is kept in the catalogue, recorded from the wheels.
"""

import math

from llmservice.engines.draining import SETTLE, SETTLE_SECONDS, wait_until_idle
from llmservice.engines.engine import (
    COMPILED_PATH,
    LEADER_ADDRESS,
    NODE_RANK,
    Capabilities,
    Default,
    Launch,
    ServingRequest,
    Syntax,
    WorkerLaunch,
)
from llmservice.engines.health import health_probes
from llmservice.engines.hugging_face import (
    OFFLINE,
    one_of,
    quantization_on_load,
)
from llmservice.engines.memory_use import MemoryOptions, MemoryUse
from llmservice.engines.options import Options, known_words
from llmservice.engines.parallelism import Parallelism, ParallelUse
from llmservice.engines.vllm.beside import (
    ADAPTERS,
    DRAFT_SOURCES,
    FLAGS,
    TASKS,
    adapter_environment,
    adapter_options,
    beside_defaults,
    draft_options,
    task_options,
)
from llmservice.engines.vllm.log_patterns import VLLM_LOG_PATTERNS
from llmservice.engines.vllm.metric_names import vllm_metric_names
from llmservice.engines.vllm.owned import VLLM_OWNED
from llmservice.engines.vllm.start_log import start_report, start_times
from llmservice.models.sizes import GIB

_CACHE = "/cache"
_COMPILED = {"VLLM_CACHE_ROOT": COMPILED_PATH, "TRITON_CACHE_DIR": f"{COMPILED_PATH}/triton"}
"""Below its cache root vLLM keeps what torch.compile, Inductor and DeepGEMM compile, and what FlashInfer found fastest
(compilation/{backends,decorators}.py, utils/deep_gemm.py, model_executor/warmup/flashinfer_autotune_cache.py); Triton's
own kernels would be in the home folder. Several replicas may write at once: folders are named by a hash of version,
configuration, model and device, files are written beside and renamed, and what cannot be loaded is compiled again. Only
a list of a few kB is written in place: who reads it in that moment ends, and starts once more. FlashInfer's own kernels
stay in the replica: its builds are locked by files, which not every shared file system can."""
_LEAST_BATCHED_TOKENS = 2048
"""vLLM's default of tokens per step on the smallest devices (get_batch_defaults)."""
_USUAL_BATCHED_TOKENS = 8192
_KV_CACHE_SPACE = "VLLM_CPU_KVCACHE_SPACE"
_USUAL_KV_CACHE_GIB = 4
_DTYPES = ("auto", "half", "float16", "bfloat16", "float", "float32")

# The port refuses connections until the model is loaded, compiled and warmed up; a later 503 means a dead engine core.
_PROBES = health_probes(startup_period_seconds=5)

_MEMORY = MemoryUse(
    # Plugins run on other devices, with rules of their own.
    variants=frozenset({"cuda", "rocm", "xpu"}),
    utilization=0.92,
    step_tokens=2048,
    # It goes by the names of A100 and GB10 (engine/arg_utils.py).
    large_step_tokens=8192,
    small_step_capabilities=frozenset({"8.0", "12.1"}),
    # Since 0.17. Before, 9.7 was seen; but with that the public starts of old versions are predicted worse, not better.
    sampler_copies=3.8,
    # gpt-oss-120b on H100: 64.38 GiB in vLLM's log (65.97 in 0.10), 60.70 in its files.
    padding=(("mxfp4", "9.0", 0.0606),),
    compiling_gib=0.75,
    graphs_gib=0.3,
    # With the 0.3 of one device 2.1 to 2.2 on H100 with NVLink: NCCL and custom all-reduce.
    exchange_gib=1.8,
    experts_gib=0.5,
    small_kv_dtype="fp8",
    quantizations=("auto", "online-fp8", "awq"),
    # vLLM's own 256 on 40 GiB and more (its 1024 on H100 takes 2 to 4 GiB for large vocabularies); fewer where little
    # is left beside the weights.
    requests=((20.0, 32), (30.0, 64), (math.inf, 256)),
    options=MemoryOptions(
        utilization="--gpu-memory-utilization",
        step_tokens="--max-num-batched-tokens",
        eager="--enforce-eager",
        relieving=frozenset(
            (
                *("--cpu-offload-gb", "--cpu-offload-params", "--offload-group-size", "--kv-cache-memory-bytes"),
                *("--num-gpu-blocks-override", "--hf-overrides", "--decode-context-parallel-size", "-dcp"),
                *("--load-format", "--sliding-window"),
            )
        ),
    ),
)
"""Read off the start-up logs of 0.19 to 0.33: 13 runs on H100 for steps, single ones for the rest."""

_PARALLEL = ParallelUse(
    flags={
        "tensor": "--tensor-parallel-size",
        "pipeline": "--pipeline-parallel-size",
        "data": "--data-parallel-size",
        "expert": "--enable-expert-parallel",
    },
    # fused_moe/config.py: experts are divided, or with expert parallelism spread, over the devices of all copies.
    copies_share_experts=True,
)
_ACROSS_NODES = ("--nnodes", "--node-rank", "--master-addr", "--headless")
"""Without Ray: docs/serving/parallelism_scaling.md, "Running vLLM with MultiProcessing". With `--headless` and a rank
above 0 a node has no API server and runs the first one's engine core (entrypoints/cli/serve.py, run_headless)."""
_LONGEST_START_SECONDS = 7 * 86_400
"""Of copies: by default what serves ends after 600 s (v1/engine/core_client.py). The startup probe decides."""


class Vllm:
    """vLLM's OpenAI server, `vllm serve`, as in its official images."""

    name = "vllm"
    capabilities = Capabilities(
        schemes=frozenset({"hf", "pvc", "oci", "s3", "gs"}),
        usual=True,
        hub_cache=True,
        revisions=True,
        remote_code=True,
        dtype=True,
        float32=True,
        glued=frozenset({"-q", "-n", "-r"}),
        syntax=Syntax(
            underscores=True, abbreviations=True, parts=True, levels={"-O": "--optimization-level"}, variables="VLLM_"
        ),
        parallelism=_PARALLEL,
        across_nodes=_ACROSS_NODES,
        memory=_MEMORY,
        offloads_to_shared_memory="--kv-offloading-size",
        offloads_to_host="--cpu-offload-gb",
        # config/model.py, _get_and_verify_max_len.
        longer_context=(
            *("--hf-overrides", "VLLM_ALLOW_LONG_MAX_MODEL_LEN", "--rope-scaling", "--rope-theta"),
            *("--hf-config-path", "--config-format", "--tokenizer-mode"),
        ),
        tasks=TASKS,
        draft=DRAFT_SOURCES,
        adapters=ADAPTERS,
    )
    owned = VLLM_OWNED
    flags = frozenset(
        (
            *("--served-model-name", "--host", "--port", "--revision", "--trust-remote-code", "--load-format"),
            *("--dtype", "--kv-cache-dtype", "--quantization", "--max-model-len", "--max-num-seqs"),
            *("--max-num-batched-tokens", *_PARALLEL.flags.values()),
            *("--shutdown-timeout", "--disable-access-log-for-endpoints", *_ACROSS_NODES),
            *FLAGS,
        )
    )
    log_patterns = VLLM_LOG_PATTERNS
    metric_names = staticmethod(vllm_metric_names)
    start_report = staticmethod(start_report)
    start_times = staticmethod(start_times)

    def launch(self, request: ServingRequest) -> Launch:
        """How to start and stop one replica; raises InvalidSpec naming the field."""
        wanted = (
            *_serving(request),
            *task_options(request),
            *_model(request),
            *draft_options(request),
            *adapter_options(request),
            *_numbers(request),
            *_capacity(request),
            *_stopping(request),
            *_nodes(request),
        )
        options = known_words(request.version, wanted)
        drains = request.version.knows("--shutdown-timeout")
        defaults = _kv_cache_on_cpu(request)
        command, args = ("vllm", "serve"), (request.model.path or request.model.repository, *options)
        return Launch(
            command=command,
            args=args,
            probes=_PROBES,
            environment={
                **_environment(request),
                **adapter_environment(request),
                **{default.field: default.value for default in defaults},
            },
            writable_paths=(_CACHE,),
            pre_stop=SETTLE if drains else _wait(request),
            pre_stop_seconds=SETTLE_SECONDS + (0 if drains else request.drain_seconds),
            stop_seconds=10 + (request.drain_seconds if drains else 0),
            # For half a minute, until Python has imported vLLM, no handler is set and process 1 ignores SIGTERM: it
            # would go on starting until the end of the grace period (0.32.0: api_server/entry.py sets the handler).
            needs_init=True,
            # On a CPU the model runs in a process of its own, behind a queue of 160 MiB (multiproc_executor.py).
            needs_shared_memory=not request.devices,
            # On CPUs it compiles for the very processor, which the next node need not have.
            compiles=bool(request.devices),
            defaults=(*defaults, *beside_defaults(request)),
            worker=WorkerLaunch(command=command, args=(*args, "--headless")) if request.nodes > 1 else None,
        )


ENGINE = Vllm()


def _serving(request: ServingRequest) -> Options:
    """The names come first: their option takes every word up to the next option."""
    return (
        ("--served-model-name", *request.names),
        (f"--host={request.host}",),
        (f"--port={request.port}",),
        ("--disable-access-log-for-endpoints=/health,/metrics",),
    )


def _model(request: ServingRequest) -> Options:
    """How weights are loaded; the model itself is the first word after the command."""
    model = request.model
    return (
        *(((f"--revision={model.revision}",),) if model.revision else ()),
        *((("--load-format=runai_streamer",),) if model.scheme in {"s3", "gs"} else ()),
        *((("--trust-remote-code",),) if request.trust_remote_code else ()),
    )


def _numbers(request: ServingRequest) -> Options:
    """Number formats; what the checkpoint states itself is not repeated."""
    dtype, on_load = one_of(request.dtype, _DTYPES, "spec.dtype"), quantization_on_load(request)
    return (
        *(((f"--dtype={dtype}",),) if dtype else ()),
        *(((f"--kv-cache-dtype={request.kv_cache_dtype}",),) if request.kv_cache_dtype else ()),
        *(((f"--quantization={on_load}",),) if on_load else ()),
    )


def _capacity(request: ServingRequest) -> Options:
    """Concurrent requests and tokens per request.

    Both are of each copy of the model. A step must have room for one token of each request (config/scheduler.py);
    vLLM's default of tokens per step is enough for up to 2048 requests on every device.
    """
    requests = request.max_num_seqs // request.parallelism.data
    tokens = max(_USUAL_BATCHED_TOKENS, requests)
    return (
        *_length(request),
        (f"--max-num-seqs={requests}",),
        *(((f"--max-num-batched-tokens={tokens}",),) if requests > _LEAST_BATCHED_TOKENS else ()),
        *(_parallel(request.parallelism) if request.devices else ()),
    )


def _parallel(shared: Parallelism) -> Options:
    """How devices share the model; what is one is not said, but for tensor."""
    return (
        (f"--tensor-parallel-size={shared.tensor}",),
        *(((f"--pipeline-parallel-size={shared.pipeline}",),) if shared.pipeline > 1 else ()),
        *(((f"--data-parallel-size={shared.data}",),) if shared.data > 1 else ()),
        *((("--enable-expert-parallel",),) if shared.expert > 1 else ()),
    )


def _nodes(request: ServingRequest) -> Options:
    """On several nodes: how many, the number of this one, and where the first is."""
    if request.nodes == 1:
        return ()
    return ((f"--nnodes={request.nodes}",), (f"--node-rank={NODE_RANK}",), (f"--master-addr={LEADER_ADDRESS}",))


def _length(request: ServingRequest) -> Options:
    """Tokens per request; where nobody says the engine fits the model's length to the memory, or takes it as it is."""
    if request.max_model_len:
        return ((f"--max-model-len={request.max_model_len}",),)
    return (("--max-model-len=auto",),) if request.version.fits_context else ()


def _stopping(request: ServingRequest) -> Options:
    return ((f"--shutdown-timeout={request.drain_seconds}",),)


def _wait(request: ServingRequest) -> tuple[str, ...]:
    return wait_until_idle(request, "^vllm:num_requests_(running|waiting)[{ ]")


def _environment(request: ServingRequest) -> dict[str, str]:
    """Caches on the writable volume, and a name for a user id that the image does not know."""
    return {
        "HOME": _CACHE,
        "HF_HOME": f"{_CACHE}/huggingface",
        "VLLM_CACHE_ROOT": f"{_CACHE}/vllm",
        "USER": "vllm",
        "VLLM_NO_USAGE_STATS": "1",
        **({"HF_HUB_CACHE": request.model.hub_cache} if request.model.hub_cache else {}),
        **(OFFLINE if request.model.offline else {}),
        **(_COMPILED if request.keeps_compiled and request.devices else {}),
        **({"VLLM_ENGINE_READY_TIMEOUT_S": str(_LONGEST_START_SECONDS)} if request.parallelism.data > 1 else {}),
        **_threads(request),
    }


def _threads(request: ServingRequest) -> dict[str, str]:
    """By default vLLM starts a thread for every core of the node, whatever the container's limit."""
    if request.devices or not request.cores:
        return {}
    return {"OMP_NUM_THREADS": str(max(1, math.ceil(request.cores))), "VLLM_CPU_OMP_THREADS_BIND": "nobind"}


def _kv_cache_on_cpu(request: ServingRequest) -> tuple[Default, ...]:
    """GiB of memory for the KV cache on the CPU; by default vLLM would use a share of the node's memory."""
    if request.devices:
        return ()
    gib, why = _USUAL_KV_CACHE_GIB, "enough for small models"
    if request.memory_bytes:
        gib, why = max(1, request.memory_bytes // 4 // GIB), "a quarter of the memory limit"
    reason = f"GiB, {why}: vLLM would use a share of the node's memory; set it in spec.engineOptions.env to change it"
    return (Default(field=_KV_CACHE_SPACE, value=str(gib), reason=reason),)
