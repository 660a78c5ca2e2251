"""What a quantization makes of a weight: bits, and which weights it touches.

Names are those of `spec.quantization` and of checkpoints' own `quant_method`, and GGUF's names of files.
"""

from dataclasses import dataclass
from enum import Enum, auto

from llmservice.models.model_facts import ModelFacts


class Touches(Enum):
    """The weights that a quantization changes; all others stay at 16 bits."""

    LINEAR = auto()
    """Attention, MLP and experts: not embeddings, output layer, norms and routers."""
    EXPERTS = auto()
    """The routed experts alone."""
    EVERYTHING = auto()
    """All weights; the number of bits is the average over a whole file."""


@dataclass(frozen=True, slots=True)
class Quantization:
    """Bits of each weight that is touched, scales and zero points included.

    `group` is how many weights in a row share a scale, where that limits how a matrix can be divided: 0 where not.
    """

    bits: float
    touches: Touches = Touches.LINEAR
    group: int = 0


PLAIN = Quantization(16.0, Touches.EVERYTHING)
"""An unquantized model as engines load it: bfloat16 or float16, a float32 checkpoint too."""

_USUAL_GROUP = 128
_INT4 = frozenset({"awq", "awq_marlin", "auto_awq", "gptq", "gptq_marlin", "auto_gptq", "marlin"})
_FP8 = frozenset({"fp8", "online-fp8-block"})
_NAMED = {
    **dict.fromkeys(("bfloat16", "float16", "half", "f16", "bf16"), PLAIN),
    **dict.fromkeys(("float32", "f32"), Quantization(32.0, Touches.EVERYTHING)),
    **dict.fromkeys(
        ("fbgemm_fp8", "modelopt", "online-fp8", "online-fp8-channel", "online-int8", "online-int8-bitsandbytes"),
        Quantization(8.0),
    ),
    **dict.fromkeys(("experts_int8", "online-experts-int8"), Quantization(8.0, Touches.EXPERTS)),
    **dict.fromkeys(("modelopt_mxfp8", "online-mxfp8"), Quantization(8.25)),
    **dict.fromkeys(("modelopt_fp4", "nvfp4", "online-nvfp4"), Quantization(4.5)),
    **dict.fromkeys(("online-nf4", "online-fp4"), Quantization(4.5)),
    **dict.fromkeys(("mxfp4", "gpt_oss_mxfp4"), Quantization(4.25, Touches.EXPERTS)),
}
"""Scales of 16 bits for 64 weights (nf4), 8 bits for 32 (mxfp) or 16 (nvfp4) are in the bits. Others, such as
`compressed-tensors` or `quark`, name a container for many formats: only the size of the files tells."""

_GGUF_BITS = {
    "IQ1_S": 2.00, "IQ1_M": 2.15, "IQ2_XXS": 2.38, "IQ2_XS": 2.59, "IQ2_S": 2.74, "IQ2_M": 2.93,
    "IQ3_XXS": 3.25, "IQ3_XS": 3.50, "IQ3_S": 3.66, "IQ3_M": 3.76, "IQ4_XS": 4.46, "IQ4_NL": 4.68,
    "Q2_K_S": 2.97, "Q2_K": 3.16, "Q3_K_S": 3.64, "Q3_K_M": 4.00, "Q3_K_L": 4.30,
    "Q4_0": 4.60, "Q4_K_S": 4.67, "Q4_K_M": 4.89, "Q5_K_S": 5.57, "Q5_K_M": 5.70, "Q6_K": 6.56, "Q8_0": 8.50,
}  # fmt: skip
"""Bits per weight of whole files: llama.cpp's tools/quantize/README.md, measured there on Llama 3.1 8B. The share of
the vocabulary moves them by 2 to 5 % in other models."""


def quantization_named(name: str, group: int = 0) -> Quantization | None:
    """What a name means, `group` being the checkpoint's own group size, 0 for unknown; None for an unknown name.

    awq and gptq keep 4 bits a weight, and 16 of scale and 4 of zero point for a group, usually of 128.
    """
    folded = name.casefold()
    if folded in ("", "auto"):
        return PLAIN
    if folded in _INT4:
        return Quantization(4 + 20 / (group or _USUAL_GROUP), group=group)
    if folded in _FP8:
        return Quantization(8.0, group=_USUAL_GROUP if folded == "online-fp8-block" else group)
    if bits := _GGUF_BITS.get(name.upper().removeprefix("UD-")):
        return Quantization(bits, Touches.EVERYTHING)
    return _NAMED.get(folded)


def is_own(facts: ModelFacts, asked: str) -> bool:
    """Whether a name asks for the checkpoint as it is."""
    return asked.casefold() in ("", "auto", facts.quantization.casefold())


def quantization_of(facts: ModelFacts, asked: str = "") -> Quantization | None:
    """What the weights are when this is asked for: the checkpoint's own method, or another checkpoint's."""
    if is_own(facts, asked):
        return quantization_named(facts.quantization, facts.quantization_group)
    return quantization_named(asked)
