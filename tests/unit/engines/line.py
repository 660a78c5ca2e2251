"""A line that an engine wrote when it exited."""

from dataclasses import dataclass

VLLM, TGI, LLAMACPP = ("vllm",), ("tgi",), ("llamacpp",)
PYTHON = (*VLLM, *TGI)
EVERY = (*PYTHON, *LLAMACPP)


@dataclass(frozen=True)
class Line:
    """What these engines wrote. `says` is what the message is to name: a field, a number."""

    engines: tuple[str, ...]
    text: str
    reason: str
    says: str
    source: str
