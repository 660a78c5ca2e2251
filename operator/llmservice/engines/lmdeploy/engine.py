"""LMDeploy: models in Hugging Face format on NVIDIA devices, by its engine in C++ (TurboMind) or that in PyTorch.

Facts are read from the released packages 0.14.0 to 0.18.0: cli/{serve,utils}.py, messages.py, archs.py,
serve/openai/api_server.py, serve/core/health.py. TurboMind is taken where it knows the model, else PyTorch, unless
`--backend pytorch` asks for it. Which version knows which option is kept in the catalogue, recorded from the wheels.
How it uses memory is not said: the KV cache is a share of what is free when weights and workspaces are there, and no
start was compared with that.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.draining import SETTLE, SETTLE_SECONDS
from llmservice.engines.engine import COMPILED_PATH, Capabilities, Launch, ServingRequest, Syntax
from llmservice.engines.health import health_probes
from llmservice.engines.hugging_face import OFFLINE, one_of
from llmservice.engines.lmdeploy.log_patterns import LMDEPLOY_LOG_PATTERNS
from llmservice.engines.lmdeploy.metric_names import lmdeploy_metric_names
from llmservice.engines.lmdeploy.owned import LMDEPLOY_OWNED
from llmservice.engines.lmdeploy.start_log import start_report, start_times
from llmservice.engines.parallelism import ParallelUse
from llmservice.errors import InvalidSpec

_CACHE = "/cache"
_DTYPES = ("auto", "float16", "bfloat16")
_QUANT_POLICIES = {"auto": 0, "int4": 4, "int8": 8, "fp8": 16, "fp8_e4m3": 16, "fp8_e5m2": 17}
_NOT_OF_TURBOMIND = frozenset({16, 17})
"""messages.py: TurbomindEngineConfig refuses them."""

# Nothing listens until the model is loaded. Then it is 503 once the scheduler has made no step for 90 seconds although
# there are requests, or does not answer.
_PROBES = health_probes(startup_period_seconds=5)
_EXIT_SECONDS = 15


class LmDeploy:
    """LMDeploy's OpenAI server, `lmdeploy serve api_server`, as in its official images."""

    name = "lmdeploy"
    capabilities = Capabilities(
        schemes=frozenset({"hf", "pvc", "oci"}),
        hub_cache=True,
        revisions=True,
        remote_code=True,
        dtype=True,
        syntax=Syntax(abbreviations=True, variables="LMDEPLOY_"),
        parallelism=ParallelUse(flags={"tensor": "--tp"}),
    )
    owned = LMDEPLOY_OWNED
    flags = frozenset(
        (
            *("--server-name", "--server-port", "--model-name", "--revision", "--trust-remote-code", "--backend"),
            *("--dtype", "--quant-policy", "--session-len", "--max-batch-size", "--tp"),
        )
    )
    log_patterns = LMDEPLOY_LOG_PATTERNS
    metric_names = staticmethod(lmdeploy_metric_names)
    start_report = staticmethod(start_report)
    start_times = staticmethod(start_times)

    def launch(self, request: ServingRequest) -> Launch:
        """How to start and stop one replica; raises InvalidSpec naming the field."""
        wanted = (*_serving(request), *_model(request), *_numbers(request), *_capacity(request))
        return Launch(
            command=("lmdeploy", "serve", "api_server"),
            args=(
                request.model.path or request.model.repository,
                *(word for word in wanted if request.version.knows(word.partition("=")[0])),
            ),
            probes=_PROBES,
            environment=_environment(request),
            writable_paths=(_CACHE,),
            # uvicorn takes no new connection after SIGTERM, and waits for the answers that it is giving.
            pre_stop=SETTLE,
            pre_stop_seconds=SETTLE_SECONDS,
            stop_seconds=_EXIT_SECONDS + request.drain_seconds,
            # uvicorn sets the handler when the model is loaded.
            needs_init=True,
            # The devices of a replica exchange through it, and the engine in PyTorch with the server.
            needs_shared_memory=True,
            compiles=True,
        )


ENGINE = LmDeploy()


def _serving(request: ServingRequest) -> tuple[str, ...]:
    if len(request.names) > 1:
        message = "lmdeploy serves a model by one name and answers 404 for others; leave one"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.model.names")
    return (
        f"--server-name={request.host}",
        f"--server-port={request.port}",
        f"--model-name={request.names[0]}",
    )


def _model(request: ServingRequest) -> tuple[str, ...]:
    model = request.model
    return (
        *((f"--revision={model.revision}",) if model.revision else ()),
        *(("--trust-remote-code",) if request.trust_remote_code else ()),
    )


def _numbers(request: ServingRequest) -> tuple[str, ...]:
    """Number formats; it reads the quantization of a checkpoint from its config (turbomind/converter.py)."""
    dtype = one_of(request.dtype, _DTYPES, "spec.dtype")
    policy = _QUANT_POLICIES.get(one_of(request.kv_cache_dtype, tuple(_QUANT_POLICIES), "spec.kvCacheDtype"), 0)
    return (
        *((f"--dtype={dtype}",) if dtype else ()),
        *((f"--quant-policy={policy}",) if policy else ()),
        *(("--backend=pytorch",) if policy in _NOT_OF_TURBOMIND else ()),
    )


def _capacity(request: ServingRequest) -> tuple[str, ...]:
    """Concurrent requests and tokens per request; a KV cache with room for fewer tokens shortens a session."""
    devices = request.devices and request.parallelism.tensor
    if devices & (devices - 1):
        message = f"lmdeploy divides a model by 2, 4, 8, … devices; {devices} is no power of two"
        raise InvalidSpec(Reason.NOT_DIVISIBLE, message, field="spec.gpu.count")
    return (
        *((f"--session-len={request.max_model_len}",) if request.max_model_len else ()),
        f"--max-batch-size={request.max_num_seqs}",
        *((f"--tp={devices}",) if devices else ()),
    )


def _environment(request: ServingRequest) -> dict[str, str]:
    """Caches on the writable volume, and a name for a user id that the image does not know."""
    return {
        "HOME": _CACHE,
        "HF_HOME": f"{_CACHE}/huggingface",
        "USER": "lmdeploy",
        **({"HF_HUB_CACHE": request.model.hub_cache} if request.model.hub_cache else {}),
        **(OFFLINE if request.model.offline else {}),
        **({"TRITON_CACHE_DIR": f"{COMPILED_PATH}/triton"} if request.keeps_compiled else {}),
    }
