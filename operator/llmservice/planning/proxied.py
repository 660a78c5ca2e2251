"""Whether a proxy stands before the engine."""

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.engine import Capabilities


def is_proxied(spec: LLMServiceSpec, can: Capabilities) -> bool:
    """Where the engine measures nothing, or clients need keys."""
    return can.proxied or spec.auth is not None
