"""Text Generation Inference: models in Hugging Face format. In maintenance since 2025-12-11.

Facts are read from its source, releases 3.0 to 3.3 (commit db931fc): launcher/src/main.rs, router/src/server.rs,
backends/v3/src/{main,lib}.rs, tgi-entrypoint.sh, Dockerfile. Each option has an environment variable: its name in
upper case. An option may occur only once, so defaults that users may override are set as variables.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.draining import SETTLE, SETTLE_SECONDS, wait_until_idle
from llmservice.engines.engine import (
    Capabilities,
    Default,
    Launch,
    ServingRequest,
)
from llmservice.engines.health import health_probes
from llmservice.engines.hugging_face import (
    OFFLINE,
    one_of,
    quantization_on_load,
)
from llmservice.engines.memory_use import MemoryOptions, MemoryUse
from llmservice.engines.parallelism import ParallelUse
from llmservice.engines.tgi.log_patterns import TGI_LOG_PATTERNS
from llmservice.engines.tgi.metric_names import tgi_metric_names
from llmservice.engines.tgi.owned import TGI_OWNED
from llmservice.engines.tgi.start_log import start_report, start_times
from llmservice.errors import InvalidSpec

_CACHE = "/cache"
_LEAST_LIMIT = 128
"""TGI's default for concurrent requests, beyond which it answers 429."""
_LIMIT_PER_SEQUENCE = 4
_USUAL_PREFILL_TOKENS = 4096
_MEMORY = MemoryUse(
    variants=frozenset({"cuda", "rocm", "xpu"}),
    # --cuda-memory-fraction 1.0, of which it leaves 5 % (TGI_WIGGLE_ROOM).
    utilization=0.95,
    step_tokens=_USUAL_PREFILL_TOKENS,
    # Devices below compute capability 8.0 cannot split a prompt, so the operator lets a step take a whole one.
    whole_prompts=True,
    graphs_gib=0.3,
    exchange_gib=1.8,
    experts_gib=0.5,
    small_kv_dtype="fp8_e4m3fn",
    quantizations=("auto", "online-fp8", "awq"),
    options=MemoryOptions(
        step_tokens="--max-batch-prefill-tokens",
        relieving=frozenset(("--cuda-memory-fraction", "CUDA_MEMORY_FRACTION", "--rope-scaling", "ROPE_SCALING")),
    ),
)
"""It runs the same models as vLLM in similar steps: graphs, exchange and experts are those of vLLM's logs."""
_STOP_SECONDS = 15
_DTYPES = ("float16", "bfloat16")
_KV_CACHE_DTYPES = ("fp8_e4m3fn", "fp8_e5m2")

# The router listens only when every shard is loaded and warmed up. After an error /health runs a real prefill, queued
# behind running requests.
_PROBES = health_probes(startup_period_seconds=5)


class Tgi:
    """Text Generation Inference's launcher, as in its official images; its entrypoint splits arguments at spaces."""

    name = "tgi"
    capabilities = Capabilities(
        schemes=frozenset({"hf", "pvc", "oci"}),
        revisions=True,
        remote_code=True,
        dtype=True,
        one_word_arguments=True,
        glued=frozenset({"-e", "-g", "-p"}),
        parallelism=ParallelUse(flags={"tensor": "--num-shard"}),
        memory=_MEMORY,
    )
    owned = TGI_OWNED
    flags = frozenset(
        (
            *("--model-id", "--revision", "--trust-remote-code", "--hostname", "--port", "--num-shard"),
            *("--dtype", "--kv-cache-dtype", "--quantize", "--max-input-tokens", "--max-total-tokens"),
            *("--max-batch-size", "--max-concurrent-requests", "--graceful-termination-timeout"),
        )
    )
    log_patterns = TGI_LOG_PATTERNS
    metric_names = staticmethod(tgi_metric_names)
    start_report = staticmethod(start_report)
    start_times = staticmethod(start_times)

    def launch(self, request: ServingRequest) -> Launch:
        """How to start and stop one replica; raises InvalidSpec naming the field."""
        wanted = (*_model(request), *_numbers(request), *_capacity(request), *_serving(request))
        drains = request.version.knows("--graceful-termination-timeout")
        prefill = _prefill(request)
        return Launch(
            args=tuple(word for word in wanted if request.version.knows(word.partition("=")[0])),
            probes=_PROBES,
            environment={**_environment(request), **{default.field: default.value for default in prefill}},
            writable_paths=(_CACHE,),
            pre_stop=SETTLE if drains else _wait(request),
            pre_stop_seconds=SETTLE_SECONDS + (0 if drains else request.drain_seconds),
            stop_seconds=_STOP_SECONDS + (request.drain_seconds if drains else 0),
            defaults=prefill,
            notes=_notes(request),
        )


ENGINE = Tgi()

_ENVIRONMENT = {
    "HOME": _CACHE,
    "HF_HOME": f"{_CACHE}/huggingface",
    # The image sets its own, which overrides HF_HOME.
    "HUGGINGFACE_HUB_CACHE": f"{_CACHE}/huggingface/hub",
    "USER": "tgi",
    "USAGE_STATS": "off",
}


def _environment(request: ServingRequest) -> dict[str, str]:
    return {**_ENVIRONMENT, **(OFFLINE if request.model.offline else {})}


def _model(request: ServingRequest) -> tuple[str, ...]:
    model = request.model
    return (
        f"--model-id={model.path or model.repository}",
        *((f"--revision={model.revision}",) if model.revision else ()),
        *(("--trust-remote-code",) if request.trust_remote_code else ()),
    )


def _numbers(request: ServingRequest) -> tuple[str, ...]:
    """Number formats; TGI reads the quantization of a checkpoint from its config."""
    dtype, on_load = one_of(request.dtype, _DTYPES, "spec.dtype"), quantization_on_load(request)
    if on_load and dtype:
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            f"tgi does not accept a dtype together with {request.quantization}; omit one of the two",
            field="spec.dtype",
        )
    if request.quantization == "exl2" and request.devices > 1:
        message = "tgi cannot shard exl2 over several devices; set spec.gpu.count: 1, or use another checkpoint"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.quantization")
    kv_cache_dtype = one_of(request.kv_cache_dtype, _KV_CACHE_DTYPES, "spec.kvCacheDtype")
    return (
        *((f"--dtype={dtype}",) if dtype else ()),
        *((f"--quantize={on_load}",) if on_load else ()),
        *((f"--kv-cache-dtype={kv_cache_dtype}",) if kv_cache_dtype else ()),
    )


def _capacity(request: ServingRequest) -> tuple[str, ...]:
    """Concurrent requests and tokens per request: a prompt must leave room for one generated token.

    TGI answers 429 beyond its limit of concurrent requests, so the limit is well above the batch size: the rest queues.
    """
    if request.max_model_len == 1:
        message = "must be at least 2 with tgi: one prompt token and one generated token"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.maxModelLen")
    length = request.max_model_len
    return (
        *((f"--max-input-tokens={length - 1}", f"--max-total-tokens={length}") if length else ()),
        f"--max-batch-size={request.max_num_seqs}",
        f"--max-concurrent-requests={_limit(request)}",
        *((f"--num-shard={request.parallelism.tensor}",) if request.devices else ()),
    )


def _limit(request: ServingRequest) -> int:
    return max(_LEAST_LIMIT, _LIMIT_PER_SEQUENCE * request.max_num_seqs)


def _prefill(request: ServingRequest) -> tuple[Default, ...]:
    """Prompt tokens in one prefill step: a whole prompt, because older devices cannot split one.

    Where TGI finds out the length of a request it finds out this, too.
    """
    if not request.max_model_len:
        return ()
    tokens = max(_USUAL_PREFILL_TOKENS, request.max_model_len)
    reason = (
        "prompt tokens per step, enough for a whole prompt: devices below compute capability 8.0 cannot split one; set "
        "--max-batch-prefill-tokens in spec.engineOptions.args to save memory on newer ones"
    )
    return (Default(field="MAX_BATCH_PREFILL_TOKENS", value=str(tokens), reason=reason),)


def _serving(request: ServingRequest) -> tuple[str, ...]:
    """`--hostname`, because TGI would read the pod's name from HOSTNAME; `--port`, because the image sets 80."""
    return (
        f"--hostname={request.host}",
        f"--port={request.port}",
        f"--graceful-termination-timeout={request.drain_seconds}",
    )


def _wait(request: ServingRequest) -> tuple[str, ...]:
    return wait_until_idle(request, "^tgi_(batch_current_size|queue_size) ")


def _notes(request: ServingRequest) -> tuple[str, ...]:
    return (
        f"beyond {_limit(request)} concurrent requests, running and queued, a replica answers 429",
        "with chunked prefill TGI may run more than spec.maxNumSeqs concurrent requests",
        "TGI accepts any model name; /v1/models shows the repository",
        "TGI is in maintenance since December 2025: consider another engine for new services",
    )
