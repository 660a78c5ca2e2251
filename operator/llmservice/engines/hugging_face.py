"""What engines built on huggingface_hub, transformers and PyTorch have in common.

Belongs here: environment variables of these libraries. Does not: an engine's own options; lines of their logs are in
hugging_face_log_patterns.py.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.engine import ServingRequest
from llmservice.errors import InvalidSpec

TOKEN_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
CACHE_VARIABLES = ("HOME", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")

OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
"""With these the libraries ask no hub: neither for what they have, nor for a newer version of it."""

QUANTIZATION = "use spec.quantization"
"""The remedy for an engine's own option for it, where nothing is known of its value."""


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
