"""Transformers: `transformers serve`, for models in Hugging Face format that no faster engine knows.

Facts are read in the released packages 5.19 and 5.23 (cli/serve.py, cli/serving, generation/continuous_batching), and
seen on a CPU with 5.23. It measures nothing, has no queue of its own and knows no keys: a proxy before it bounds,
queues and counts. Of several devices each holds some of the layers (device_map of accelerate): one computes at a time.
"""

import math

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.draining import SETTLE_SECONDS, wait_for_proxy
from llmservice.engines.engine import Capabilities, Default, Launch, ServingRequest, Syntax
from llmservice.engines.health import health_probes
from llmservice.engines.hugging_face import OFFLINE, one_of, quantization_on_load
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.transformers.log_patterns import TRANSFORMERS_LOG_PATTERNS
from llmservice.engines.transformers.owned import TRANSFORMERS_OWNED
from llmservice.engines.transformers.start_log import start_report, start_times
from llmservice.engines.transformers.start_script import START
from llmservice.errors import InvalidSpec

_CACHE = "/cache"
_DTYPES = ("auto", "float16", "bfloat16", "float32")
_PAGE_TOKENS = 256
"""Tokens of a block of the KV cache (ContinuousBatchingConfig.page_size)."""
_STOP_SECONDS = 15

# It listens when the model is loaded. Later 503 means that the thread that computes has ended: only a restart helps.
_PROBES = health_probes(startup_period_seconds=5)


class Transformers:
    """`transformers serve` with one model, its requests computed together."""

    name = "transformers"
    capabilities = Capabilities(
        schemes=frozenset({"hf", "pvc", "oci"}),
        proxied=True,
        bounds_context=False,
        # /load_model and /reset load any model of the hub, and unload the one that is served (cli/serving/server.py).
        client_paths=("/v1/*",),
        revisions=True,
        remote_code=True,
        dtype=True,
        float32=True,
        # click takes the next word for the value whatever it begins with.
        syntax=Syntax(any_word=True),
    )
    owned = TRANSFORMERS_OWNED
    flags = frozenset(
        (
            *("--host", "--port", "--continuous-batching", "--device", "--dtype", "--quantization"),
            *("--trust-remote-code", "--cb-num-blocks"),
        )
    )
    log_patterns = TRANSFORMERS_LOG_PATTERNS
    start_report = staticmethod(start_report)
    start_times = staticmethod(start_times)

    def metric_names(self, _version: object) -> MetricNames:
        """None of its own: planning takes the proxy's."""
        return MetricNames()

    def launch(self, request: ServingRequest) -> Launch:
        """How to start and stop one replica; raises InvalidSpec naming the field."""
        cache = _kv_cache(request)
        model = request.model.path or request.model.repository
        return Launch(
            command=("python3", "-c", START),
            args=(_name(request), model, request.model.revision, *_options(request, cache)),
            probes=_PROBES,
            environment=_environment(request),
            writable_paths=(_CACHE,),
            pre_stop=wait_for_proxy(request),
            pre_stop_seconds=SETTLE_SECONDS + request.drain_seconds,
            stop_seconds=_STOP_SECONDS,
            defaults=cache,
            notes=_notes(request),
        )


ENGINE = Transformers()


def _name(request: ServingRequest) -> str:
    """The one name under which it serves; raises InvalidSpec for one that is no path below a folder."""
    name = request.names[0]
    if any(part in {"", ".", ".."} for part in name.split("/")) or "@" in name or name.startswith("-"):
        message = f"{name} cannot be the name of a folder, which is how this engine is told it; choose another"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.model.names")
    if len(request.names) > 1:
        message = "transformers serves a model under one name; leave one"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.model.names")
    return name


def _options(request: ServingRequest, cache: tuple[Default, ...]) -> tuple[str, ...]:
    dtype, on_load = one_of(request.dtype, _DTYPES, "spec.dtype"), quantization_on_load(request)
    if request.kv_cache_dtype:
        message = "transformers keeps the KV cache in the format of the model; omit the field"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.kvCacheDtype")
    return (
        f"--host={request.host}",
        f"--port={request.port}",
        "--continuous-batching",
        *(() if request.devices else ("--device=cpu",)),
        *((f"--dtype={dtype}",) if dtype else ()),
        *((f"--quantization={on_load}",) if on_load else ()),
        *(("--trust-remote-code",) if request.trust_remote_code else ()),
        *(f"{default.field}={default.value}" for default in cache),
    )


def _kv_cache(request: ServingRequest) -> tuple[Default, ...]:
    """Blocks of KV cache on a CPU, where it would take nine tenths of the node's memory (cache.py, MemoryHandler)."""
    if request.devices or not request.max_model_len:
        return ()
    blocks = math.ceil(request.max_model_len / _PAGE_TOKENS) * request.max_num_seqs
    reason = (
        f"blocks of {_PAGE_TOKENS} tokens: {request.max_num_seqs} requests of {request.max_model_len} tokens; by "
        "itself it would take most of the node's memory"
    )
    return (Default(field="--cb-num-blocks", value=str(blocks), reason=reason),)


def _environment(request: ServingRequest) -> dict[str, str]:
    threads = not request.devices and request.cores
    return {
        "HOME": _CACHE,
        "HF_HOME": f"{_CACHE}/huggingface",
        "USER": "transformers",
        "PYTHONUNBUFFERED": "1",
        **(OFFLINE if request.model.offline or request.model.path else {}),
        **({"OMP_NUM_THREADS": str(max(1, math.ceil(request.cores)))} if threads else {}),
    }


def _notes(request: ServingRequest) -> tuple[str, ...]:
    unbounded = (
        "transformers does not hold requests to spec.maxModelLen: one that needs more KV cache than there is ends all "
        "that run, and the replica is restarted"
    )
    layers = "the layers are spread over the devices, of which one computes at a time"
    return (unbounded, *((layers,) if request.devices > 1 else ()))
