"""With which numbers an engine would be started."""

from dataclasses import dataclass
from enum import StrEnum

from llmservice.catalog.accelerator import Accelerator

GIB = 2**30


class Engine(StrEnum):
    """The engines whose memory is understood, by the name that `spec.engine` has."""

    VLLM = "vllm"
    LLAMACPP = "llamacpp"
    TGI = "tgi"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The numbers of one start. `devices` share the model; `utilization` is the share of each that the engine takes.

    `max_model_len` and `batched_tokens` (of one step) in tokens, `max_num_seqs` in requests. Empty names of
    `quantization` and `kv_dtype` are the checkpoint's own and 16 bits. `eager` is vLLM without compilation and graphs.
    """

    engine: Engine
    max_model_len: int
    max_num_seqs: int
    batched_tokens: int = 2048
    devices: int = 1
    utilization: float = 0.92
    quantization: str = ""
    kv_dtype: str = ""
    eager: bool = False

    @property
    def step_tokens(self) -> int:
        """Tokens that one step may work on: TGI takes a prompt whole, llama.cpp by 512 (--ubatch-size)."""
        if self.engine is Engine.LLAMACPP:
            return 512
        return max(self.batched_tokens, self.max_model_len) if self.engine is Engine.TGI else self.batched_tokens


_LARGE_GIB = 70.0
_SMALL_STEP, _LARGE_STEP, _TGI_STEP = 2048, 8192, 4096
_SMALL_BY_NAME = ("A100", "GB10")


def usual_batched_tokens(engine: Engine, accelerator: Accelerator) -> int:
    """Tokens of one step when nobody says: with TGI 4096, with vLLM 0.33 8192 from 70 GiB on, else 2048.

    A100 and GB10 count as small by name (engine/arg_utils.py of vLLM).
    """
    if engine is Engine.TGI:
        return _TGI_STEP
    large = accelerator.memory_gib >= _LARGE_GIB and not accelerator.name.startswith(_SMALL_BY_NAME)
    return _LARGE_STEP if large else _SMALL_STEP


def usual_utilization(engine: Engine) -> float:
    """The share of a device that an engine takes when nobody says.

    vLLM 0.33: --gpu-memory-utilization 0.92. TGI: --cuda-memory-fraction 1.0, of which it leaves 5 % (TGI_WIGGLE_ROOM).
    llama.cpp takes what it needs.
    """
    return {Engine.VLLM: 0.92, Engine.TGI: 0.95, Engine.LLAMACPP: 1.0}[engine]
