"""What engines built on huggingface_hub, transformers and PyTorch have in common.

Belongs here: environment variables of these libraries. Does not: an engine's own options; lines of their logs are in
hugging_face_log_patterns.py.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import ServingRequest
from llmservice.errors import InvalidSpec

TOKEN_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
CACHE_VARIABLES = ("HOME", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")


def quantization_on_load(request: ServingRequest) -> str:
    """This version's name of an online quantization; empty for the quantization of a checkpoint.

    A checkpoint states its own method, and engines exit when an option names another one.
    """
    return request.version.on_load.get(request.quantization, "")


def one_of(value: str, known: tuple[str, ...], field: str) -> str:
    """The value, if it is empty or one of `known`; raises InvalidSpec naming the field."""
    if value and value not in known:
        message = f"{value} is not one of {', '.join(known)}; use one of them, or omit the field"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field=field)
    return value
