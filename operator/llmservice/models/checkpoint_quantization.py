"""How a checkpoint is quantized, by its config.json (`quantization_config`) or by NVIDIA's hf_quant_config.json."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llmservice.models.plausible import count, part, word

_BITS = {"awq": 4, "gptq": 4, "fp8": 8, "mxfp4": 4, "fbgemm_fp8": 8, "modelopt": 8, "modelopt_fp4": 4}
"""Of a weight, where the config leaves it to the method."""
_MXFP4_GROUP = 32
_MOST_GROUPS = 64


@dataclass(frozen=True, slots=True)
class CheckpointQuantization:
    """`method` is empty for a plain checkpoint; `group` weights share a scale, 0 where the config does not say."""

    method: str = ""
    bits: int = 0
    group: int = 0


def checkpoint_quantization(config: Mapping[str, Any], text: Mapping[str, Any]) -> CheckpointQuantization:
    """What the config of a model, or of its language part, says. Raises MalformedModel."""
    said = part(config, "quantization_config", "compression_config") or part(text, "quantization_config")
    method = _method(said)
    if not method:
        return CheckpointQuantization()
    weights = next(_weights_of_groups(said), {})
    return CheckpointQuantization(
        method=method,
        bits=count(said, "quantization_bits", "bits", "w_bit")
        or count(weights, "quantization_bits", "num_bits")
        or _bits_of_bitsandbytes(said)
        or _BITS.get(method, 0),
        group=_group(said) or _group(weights) or (_MXFP4_GROUP if method == "mxfp4" else 0),
    )


def modelopt_quantization(document: Mapping[str, Any]) -> CheckpointQuantization:
    """What hf_quant_config.json says. Raises MalformedModel."""
    said = part(document, "quantization")
    algorithm = word(said.get("quant_algo")).upper()
    if not algorithm:
        return CheckpointQuantization()
    method = "modelopt_fp4" if algorithm.startswith("NVFP4") else "modelopt"
    return CheckpointQuantization(method, _BITS[method], _group(said))


def _method(said: Mapping[str, Any]) -> str:
    """The name that vLLM gives it: `modelopt_fp4` for NVIDIA's NVFP4."""
    method = word(said.get("quant_method")).lower()
    if not method and "config_groups" in said:
        return "compressed-tensors"
    is_fp4 = method == "modelopt" and word(said.get("quant_algo")).upper().startswith("NVFP4")
    return "modelopt_fp4" if is_fp4 else method


def _weights_of_groups(said: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Of compressed-tensors: how the weights of each group of layers are stored."""
    for group in list(part(said, "config_groups").values())[:_MOST_GROUPS]:
        if isinstance(group, dict) and (weights := part(group, "weights")):
            yield weights


def _bits_of_bitsandbytes(said: Mapping[str, Any]) -> int:
    if said.get("load_in_4bit") is True:
        return 4
    return 8 if said.get("load_in_8bit") is True else 0


def _group(said: Mapping[str, Any]) -> int:
    """-1 stands for a scale of each channel; of blocks the width counts, which tensor parallelism must not cut."""
    return count(said, "quantization_group", "group_size", "q_group_size", "weight_block_size")
