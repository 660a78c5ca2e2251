"""What is known of a model: sizes as its config.json or GGUF header gives them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any


class Task(StrEnum):
    """What a model is asked for."""

    GENERATE = "Generate"
    EMBED = "Embed"
    RERANK = "Rerank"
    TRANSCRIBE = "Transcribe"


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2 and later): what one token keeps per layer, in values.

    `rank` is `kv_lora_rank`, `rope_size` is `qk_rope_head_dim`; `query_rank` is `q_lora_rank`, 0 where queries are not
    compressed; `nope_size` and `value_size` are the head sizes without position and of values.
    """

    rank: int
    rope_size: int
    query_rank: int = 0
    nope_size: int = 0
    value_size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """A mixture of experts: `count` in each layer, of which `active` work on a token, each `intermediate_size` wide.

    `shared` are those that work on every token; `dense_layers` are layers without experts.
    """

    count: int
    active: int
    intermediate_size: int
    shared: int = 0
    dense_layers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """A model's facts; None, 0 and empty where nothing is known. Unknown is never a reason to refuse.

    `longest_context` in tokens. `layers` counts all layers; of those `sliding_layers` keep only the last
    `sliding_window` tokens, and `linear_layers` (Mamba, linear attention, blocks without attention) keep a state that
    does not grow. The others see all tokens, with `global_kv_heads` of `global_head_size` where those differ from the
    rest (Gemma 4), else 0. `parameters` counts all weights, `file_bytes` the files that an engine loads. `quantization`
    is the checkpoint's own method (`awq`, `gptq`, `fp8`, `mxfp4`, `Q4_K_M`…), empty for a plain one, with the bits of a
    quantized weight and how many share a scale; `dtype` that of its plain weights (`bfloat16`, `float16`, `float32`).
    `gated` tells whether a licence must be accepted first.
    """

    architecture: str = ""
    task: Task | None = None
    longest_context: int = 0
    layers: int = 0
    hidden_size: int = 0
    intermediate_size: int = 0
    heads: int = 0
    kv_heads: int = 0
    head_size: int = 0
    vocabulary: int = 0
    tied_embeddings: bool | None = None
    experts: Experts | None = None
    latent: LatentAttention | None = None
    sliding_window: int = 0
    sliding_layers: int = 0
    linear_layers: int = 0
    global_kv_heads: int = 0
    global_head_size: int = 0
    parameters: int = 0
    file_bytes: int = 0
    quantization: str = ""
    quantization_bits: int = 0
    quantization_group: int = 0
    dtype: str = ""
    gated: bool | None = None


NOTHING_KNOWN = ModelFacts()


@lru_cache(maxsize=1024)
def known_values(facts: ModelFacts) -> Mapping[str, Any]:
    """What is known, by the names of the fields; False is known.

    Cached, because every plan of a known model writes it: do not change it.
    """
    return _known(asdict(facts))


def _known(values: dict[str, Any]) -> dict[str, Any]:
    known = {name: _known(value) if isinstance(value, dict) else value for name, value in values.items()}
    return {
        name: value.value if isinstance(value, StrEnum) else value
        for name, value in known.items()
        if value or value is False
    }
