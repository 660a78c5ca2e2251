"""What engines built on huggingface_hub, transformers and PyTorch have in common.

Belongs here: log lines and environment variables of these libraries. Does not: an engine's own options.
Sources: huggingface_hub/errors.py and utils/_http.py, transformers/utils/hub.py, torch/cuda/__init__.py.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.engine import LogPattern, ServingRequest
from llmservice.errors import InvalidSpec
from llmservice.untrusted.patterns import compiled

TOKEN_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
CACHE_VARIABLES = ("HOME", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")

QUANTIZATION = "use spec.quantization"
"""The remedy for an engine's own option for it, where nothing is known of its value."""

HUB_LOG_PATTERNS = (
    LogPattern(
        reason=Reason.MODEL_ACCESS_DENIED,
        pattern=compiled(r"GatedRepoError: |[Cc]annot access gated repo|You are trying to access a gated repo"),
        remedy="accept the model's licence, and set spec.model.tokenSecretRef to a token that may read it",
    ),
    LogPattern(
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(
            r"(Repository|Revision)NotFoundError: |is not a valid (model|git) identifier|HFValidationError: "
        ),
        remedy="correct spec.model.uri or spec.model.revision; a private model needs spec.model.tokenSecretRef",
    ),
    LogPattern(
        reason=Reason.MODEL_ACCESS_DENIED,
        pattern=compiled(r"(401|403) Client Error"),
        remedy="set spec.model.tokenSecretRef to a token that may read the model",
    ),
    LogPattern(
        reason=Reason.CRASH_LOOPING,
        pattern=compiled(r"429 Client Error|LocalEntryNotFoundError: |[Cc]ouldn't connect to 'https?://\S+' to load"),
        remedy=(
            "the model hub is unreachable or throttles requests: check network policy and proxy, set "
            "spec.model.tokenSecretRef, or use a claim (pvc://)"
        ),
    ),
)
"""Errors of the hub, the most specific first: without a token an unknown repository is answered with 401."""

TORCH_LOG_PATTERNS = (
    LogPattern(
        reason=Reason.UNSUPPORTED_FIELD,
        pattern=compiled(r"(argument|option) `?trust_remote_code=True|--trust-remote-code"),
        remedy="read the model's code, then set spec.model.trustRemoteCode: true and pin spec.model.revision",
    ),
    LogPattern(
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(r"does not recognize this architecture"),
        remedy="set a newer spec.engineOptions.version, or another engine",
    ),
    LogPattern(
        reason=Reason.OUT_OF_MEMORY,
        pattern=compiled(r"(CUDA|HIP) out of memory|OutOfMemoryError"),
        remedy="lower spec.maxNumSeqs or spec.maxModelLen, take a quantized checkpoint, or raise spec.gpu.count",
    ),
    LogPattern(
        reason=Reason.GPU_NOT_USABLE,
        pattern=compiled(
            r"NVIDIA driver on your system is too old|No (CUDA|HIP) GPUs are available|no kernel image is available"
            r"|Failed to infer device type|not enough cuda devices|NotEnoughCUDADevices"
        ),
        remedy=(
            "image, driver and device do not match: check the node, or set another spec.engineOptions.version; where a "
            "group owns /dev/dri, add its id on the node to spec.pod.securityContext.supplementalGroups"
        ),
    ),
)


def quantization_on_load(request: ServingRequest) -> str:
    """This version's name of an online quantization; empty for the quantization of a checkpoint.

    A checkpoint states its own method, and engines exit when an option names another one.
    """
    return request.version.on_load.get(request.quantization, "")


def quantization_instead(version: EngineVersion, value: str) -> str:
    """The remedy for the engine's own option with a value: the name that spec.quantization has for it.

    An engine that is told `fp8` converts a checkpoint that is not quantized, and reads one that is: two names here.
    """
    converted = next((name for name, own in version.on_load.items() if own == value), f"online-{value}")
    if converted not in version.on_load:
        return f"use spec.quantization: {value}" if value in version.quantizations else ""
    read = f"; {value} is for checkpoints that are {value} already" if value in version.quantizations else ""
    return f"use spec.quantization: {converted}{read}"


def one_of(value: str, known: tuple[str, ...], field: str) -> str:
    """The value, if it is empty or one of `known`; raises InvalidSpec naming the field."""
    if value and value not in known:
        message = f"{value} is not one of {', '.join(known)}; use one of them, or omit the field"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field=field)
    return value
