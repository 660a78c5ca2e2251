"""A line that an engine wrote when it exited."""

from collections.abc import Collection
from dataclasses import dataclass

from llmservice.engines.checkpoint_log_patterns import CHECKPOINT_LOG_PATTERNS
from llmservice.engines.engine import LogPattern
from llmservice.engines.registry import ENGINES
from llmservice.engines.system_log_patterns import SYSTEM_LOG_PATTERNS


def _reading(patterns: Collection[LogPattern]) -> tuple[str, ...]:
    """The engines whose log is read with all of these patterns, maybe with remedies of their own."""
    wanted = {each.pattern for each in patterns}
    return tuple(name for name, engine in ENGINES.items() if wanted <= {each.pattern for each in engine.log_patterns})


VLLM, TGI, LLAMACPP = ("vllm",), ("tgi",), ("llamacpp",)
PYTHON = _reading(CHECKPOINT_LOG_PATTERNS)
EVERY = _reading(SYSTEM_LOG_PATTERNS)


@dataclass(frozen=True)
class Line:
    """What these engines wrote. `says` is what the message is to name: a field, a number."""

    engines: tuple[str, ...]
    text: str
    reason: str
    says: str
    source: str
