"""Resources whose model is known."""

from typing import Any

LLAMA_8B = "meta-llama/Llama-3.1-8B-Instruct"
LLAMA_70B = "meta-llama/Llama-3.3-70B-Instruct"
SMALL_FACTS = {
    "layers": 24,
    "hiddenSize": 1024,
    "intermediateSize": 4096,
    "heads": 16,
    "kvHeads": 16,
    "headSize": 64,
    "vocabulary": 30_522,
    "dtype": "float16",
}


def vllm(uri: str = LLAMA_8B, gpu: str = "L4", count: int = 1, **spec: Any) -> dict[str, Any]:
    """Changes that make a service of vLLM; `fit="Warn"` sets the field of the spec."""
    changes = {"spec__engine": "vllm", "spec__model__uri": uri, "spec__gpu": {"type": gpu, "count": count}}
    return changes | {f"spec__{path}": value for path, value in spec.items()}


def stated(facts: dict[str, Any], gpu: str = "L4", **spec: Any) -> dict[str, Any]:
    """The same with facts that the resource states."""
    return vllm("acme/own", gpu, model__facts=facts, **spec)
