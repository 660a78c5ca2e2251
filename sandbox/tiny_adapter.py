"""An adapter (LoRA) of the tiny Llama in peft's format, strong enough to change what a real vLLM answers.

Names and shapes as peft saves them: `lora_A` (rank, width), `lora_B` (width, rank), below `base_model.model`.
"""

import json
from pathlib import Path

import numpy as np

from sandbox.tiny_llama import LAYERS, WIDTH, Halves, safetensors

RANK = 8
_ALPHA = 256


def write_tiny_adapter(folder: Path, seed: int = 0) -> None:
    """Write adapter_config.json and adapter_model.safetensors; the same bytes each time for the same seed."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "tiny",
        "r": RANK,
        "lora_alpha": _ALPHA,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": ["q_proj", "o_proj"],
    }
    (folder / "adapter_config.json").write_text(json.dumps(config))
    (folder / "adapter_model.safetensors").write_bytes(safetensors(_tensors(np.random.default_rng(seed))))


def _tensors(random: np.random.Generator) -> dict[str, Halves]:
    found: dict[str, Halves] = {}
    for layer in range(LAYERS):
        for part in ("q_proj", "o_proj"):
            name = f"base_model.model.model.layers.{layer}.self_attn.{part}"
            found[f"{name}.lora_A.weight"] = _bfloat16(random.standard_normal((RANK, WIDTH)))
            found[f"{name}.lora_B.weight"] = _bfloat16(random.standard_normal((WIDTH, RANK)))
    return found


def _bfloat16(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Halves:
    """The upper half of each float32."""
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
