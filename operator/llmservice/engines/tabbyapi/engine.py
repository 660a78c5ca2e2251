"""TabbyAPI: EXL3 models on NVIDIA devices, by ExLlamaV3. Its authors do not mean it for production servers.

Read at commit 0158fb48 (2026-07-18): main.py, config_sample.yml, common/{config_models,tabby_config,auth,health,model,
args}.py, endpoints/core/router.py, backends/exllamav3/model.py, docker/Dockerfile; ExLlamaV3's cache/quant.py and
model/model_ls.py. It was not run here. It reports no metrics, and its server ends when open answers are sent: a proxy
before it bounds, queues, counts and drains.
"""

import math

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.draining import SETTLE_SECONDS, wait_for_proxy
from llmservice.engines.engine import Capabilities, Default, Launch, ServingRequest, Syntax
from llmservice.engines.health import health_probes
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.parallelism import ParallelUse
from llmservice.engines.tabbyapi.config_file import CONFIG_PATH, Config, config_text
from llmservice.engines.tabbyapi.log_patterns import TABBYAPI_LOG_PATTERNS
from llmservice.engines.tabbyapi.owned import TABBYAPI_OWNED
from llmservice.engines.tabbyapi.start_log import start_report, start_times
from llmservice.errors import InvalidSpec
from llmservice.untrusted.patterns import compiled

_CACHE = "/cache"
_PAGE = 256
"""Tokens of a page of the KV cache, whose size is a multiple of it (constants.py, PAGE_SIZE)."""
_KV_BITS = compiled(r"q(?P<keys>[2-8])(_(?P<values>[2-8]))?")
_BITS = compiled(r"(?i)(?P<bits>[2-8](\.[0-9]{1,2})?)[ _-]?bpw")
_OLD_FORMAT = compiled(r"(?i)exl2")

# The server listens once the model is loaded. After any error while it generates, /health answers 503 until the end of
# the process (common/health.py): such a replica leaves the Service and is started again.
_PROBES = health_probes(startup_period_seconds=5)

_CLIENT_PATHS = (
    *("/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/models", "/v1/model", "/v1/model/list"),
    *("/v1/token/encode", "/v1/token/decode"),
)
"""Without keys of its own everybody may load, unload and download models, too (endpoints/core/router.py)."""

_NOTES = (
    "TabbyAPI calls itself a hobby project that is not meant for production servers: consider another engine there",
    "TabbyAPI is under the AGPL-3.0: who changes it and lets others use it over a network owes them its source",
    "TabbyAPI accepts any model name; a tabby_config.yml in the model's folder overrides what the operator sets",
    "after an error while it generates a replica answers no health check any more, and is started again",
)


class TabbyApi:
    """TabbyAPI's `main.py`, as in its official image for CUDA 12."""

    name = "tabbyapi"
    capabilities = Capabilities(
        schemes=frozenset({"pvc", "oci"}),
        proxied=True,
        client_paths=_CLIENT_PATHS,
        syntax=Syntax(abbreviations=True, variables="TABBY_"),
        # Whole layers on each device, or every layer on all of them (gpu_split_auto, tensor_parallel).
        parallelism=ParallelUse(flags={"tensor": "", "pipeline": ""}, rest="pipeline", combines=False),
    )
    owned = TABBYAPI_OWNED
    flags: frozenset[str] = frozenset()
    log_patterns = TABBYAPI_LOG_PATTERNS
    start_report = staticmethod(start_report)
    start_times = staticmethod(start_times)

    def metric_names(self, _version: EngineVersion) -> MetricNames:
        """None of its own: planning takes the proxy's."""
        return MetricNames()

    def launch(self, request: ServingRequest) -> Launch:
        """How to start and stop one replica; raises InvalidSpec naming the field."""
        _check_format(request)
        return Launch(
            command=("python3", "main.py"),
            args=(),
            probes=_PROBES,
            environment={"HOME": _CACHE, "USER": self.name, "HF_HUB_OFFLINE": "1"},
            writable_paths=(_CACHE,),
            files={CONFIG_PATH: config_text(_config(request))},
            pre_stop=wait_for_proxy(request),
            pre_stop_seconds=SETTLE_SECONDS + request.drain_seconds,
            # uvicorn waits for answers that are being sent, which have ended by then.
            stop_seconds=15,
            # Until Python has imported PyTorch no handler is set, and process 1 ignores SIGTERM.
            needs_init=True,
            # Processes of several devices exchange buffers there, and those of one read prompts.
            needs_shared_memory=True,
            defaults=_bits_by_name(request),
            notes=_NOTES,
        )


ENGINE = TabbyApi()


def _check_format(request: ServingRequest) -> None:
    """ExLlamaV2's format is not loaded any more since ExLlamaV3 is the only backend (README.md)."""
    if _OLD_FORMAT.is_in(request.model.path) and not request.own_image:
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            "EXL2 checkpoints need ExLlamaV2, which was removed; use an EXL3 checkpoint of the model, or an image of "
            "your own, built from the branch exl2-checkpoint (spec.engineOptions.image)",
            field="spec.model.uri",
        )


def _config(request: ServingRequest) -> Config:
    """The model's folder is the folder of models: so nobody is told the names of other folders of the volume."""
    length = math.ceil(request.max_model_len / _PAGE) * _PAGE
    return {
        "network": {
            "host": request.host,
            "port": request.port,
            # Keys are checked by the proxy before it, which also closes what administrates.
            "disable_auth": True,
            # Else every client makes the server fetch addresses of its choice.
            "disable_fetch_requests": True,
            "api_servers": ["OAI"],
        },
        "model": {
            "model_dir": request.model.path,
            "model_name": ".",
            "inline_model_loading": False,
            "use_dummy_models": True,
            "dummy_model_names": list(request.names),
            "backend": "exllamav3",
            "max_seq_len": request.max_model_len,
            "cache_size": length * request.max_num_seqs,
            "cache_mode": _cache_mode(request),
            "max_batch_size": request.max_num_seqs,
            "tensor_parallel": request.parallelism.tensor > 1,
        },
    }


def _cache_mode(request: ServingRequest) -> str:
    """`q8` is 8 bits for keys and values, `q8_4` 8 for keys and 4 for values; raises InvalidSpec for another."""
    dtype = request.kv_cache_dtype
    if dtype in {"", "fp16", "f16", "float16"}:
        return "FP16"
    if found := _KV_BITS.whole(dtype):
        return f"{found['keys']},{found['values'] or found['keys']}"
    raise InvalidSpec(
        Reason.UNSUPPORTED_FIELD,
        f"{dtype} is not one of fp16, q8, q6, q4, or q8_4 (2 to 8 bits of keys and of values); use one of them, or "
        "omit the field for fp16",
        field="spec.kvCacheDtype",
    )


def _bits_by_name(request: ServingRequest) -> tuple[Default, ...]:
    """Bits of a weight, where the name of the folder states them: it decides them, and nothing else does."""
    found = _BITS.first(request.model.path)
    if found is None:
        return ()
    reason = f"{found['bits']} bits a weight, as the name of its folder states"
    return (Default(field="quantization", value="exl3", reason=reason),)
