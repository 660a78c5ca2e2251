"""CTranslate2: decoder models in its own format on CPU and NVIDIA devices, behind the project's own server.

The library (4.8.5) has no server: images/ctranslate2 is one, and all that is said here of options, metrics, queue and
stopping is true of that. Each request is computed by itself, by one of as many workers as requests may run; with
several devices each holds the whole model. A model is converted once, by ct2-transformers-converter.
"""

import math

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.ctranslate2.log_patterns import CTRANSLATE2_LOG_PATTERNS
from llmservice.engines.ctranslate2.metric_names import ctranslate2_metric_names
from llmservice.engines.ctranslate2.owned import CTRANSLATE2_OWNED
from llmservice.engines.ctranslate2.start_log import start_report, start_times
from llmservice.engines.draining import SETTLE, SETTLE_SECONDS
from llmservice.engines.engine import Capabilities, Launch, ServingRequest
from llmservice.engines.health import health_probes
from llmservice.engines.hugging_face import OFFLINE, one_of, quantization_on_load
from llmservice.errors import InvalidSpec

_CACHE = "/cache"
_DTYPES = ("float16", "bfloat16", "float32")
_STOP_SECONDS = 10
"""For the process to end after the time that running requests have."""

# It listens at once, and answers 503 until the model is loaded.
_PROBES = health_probes(startup_period_seconds=2)


class Ctranslate2:
    """The project's server, as in its image."""

    name = "ctranslate2"
    capabilities = Capabilities(
        schemes=frozenset({"hf", "pvc", "oci"}),
        revisions=True,
        dtype=True,
        float32=True,
    )
    owned = CTRANSLATE2_OWNED
    flags = frozenset(
        (
            *("--revision", "--served-model-name", "--host", "--port", "--device", "--device-count", "--compute-type"),
            *("--max-num-seqs", "--max-model-len", "--intra-threads", "--shutdown-timeout"),
        )
    )
    log_patterns = CTRANSLATE2_LOG_PATTERNS
    metric_names = staticmethod(ctranslate2_metric_names)
    start_report = staticmethod(start_report)
    start_times = staticmethod(start_times)

    def launch(self, request: ServingRequest) -> Launch:
        """How to start and stop one replica; raises InvalidSpec naming the field."""
        return Launch(
            # The names take every word up to the next option.
            args=(_model(request), "--served-model-name", *request.names, *_options(request)),
            probes=_PROBES,
            environment=_environment(request),
            writable_paths=(_CACHE,),
            pre_stop=SETTLE,
            pre_stop_seconds=SETTLE_SECONDS,
            stop_seconds=_STOP_SECONDS + request.drain_seconds,
            notes=_notes(request),
        )


ENGINE = Ctranslate2()


def _model(request: ServingRequest) -> str:
    return request.model.path or request.model.repository


def _options(request: ServingRequest) -> tuple[str, ...]:
    compute, model = _compute_type(request), request.model
    return (
        f"--host={request.host}",
        f"--port={request.port}",
        *((f"--revision={model.revision}",) if model.revision else ()),
        *((f"--compute-type={compute}",) if compute else ()),
        f"--max-num-seqs={request.max_num_seqs}",
        *((f"--max-model-len={request.max_model_len}",) if request.max_model_len else ()),
        *_devices(request),
        f"--shutdown-timeout={request.drain_seconds}",
    )


def _compute_type(request: ServingRequest) -> str:
    """What to compute in; empty for what the model was converted to. Raises InvalidSpec for two at once."""
    dtype, on_load = one_of(request.dtype, _DTYPES, "spec.dtype"), quantization_on_load(request)
    if request.kv_cache_dtype:
        message = "ctranslate2 keeps the KV cache in the format it computes in; omit the field"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.kvCacheDtype")
    if dtype and on_load:
        message = f"{request.quantization} names a number format too; omit one of the two"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.dtype")
    return dtype or on_load


def _devices(request: ServingRequest) -> tuple[str, ...]:
    """Where it computes; on a CPU the cores are divided among the requests that may run."""
    if request.devices:
        return ("--device=cuda", f"--device-count={request.devices}")
    if not request.cores:
        return ("--device=cpu",)
    return ("--device=cpu", f"--intra-threads={max(1, math.floor(request.cores / request.max_num_seqs))}")


def _environment(request: ServingRequest) -> dict[str, str]:
    return {
        "HOME": _CACHE,
        "HF_HOME": f"{_CACHE}/huggingface",
        **(OFFLINE if request.model.offline else {}),
    }


def _notes(request: ServingRequest) -> tuple[str, ...]:
    each = "CTranslate2 computes each request by itself: more at once do not share the work of one step"
    copies = f"each of the {request.devices} devices holds the whole model: they serve more requests, not larger models"
    return (each, *((copies,) if request.devices > 1 else ()))
