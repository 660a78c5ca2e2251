"""Over how many devices an engine can divide a model's matrices.

vLLM's rules, each an error while it loads: heads and KV heads (config/model.py, linear.py), the vocabulary padded to a
multiple of 64 (vocab_parallel_embedding.py; issue 31474: "151552 is not divisible by 6"), and groups of quantized
weights that must stay whole (marlin_utils.py, fp8_utils.py).
"""

from llmservice.models.model_facts import ModelFacts
from llmservice.models.quantization import quantization_of

_PADDING = 64


def tensor_parallel_problem(facts: ModelFacts, devices: int, quantization: str = "") -> str:
    """Why the model cannot be divided by so many devices; empty when it can, or nothing is known against it."""
    if devices <= 1:
        return ""
    return _heads(facts, devices) or _vocabulary(facts, devices) or _groups(facts, devices, quantization)


def tensor_parallel_sizes(facts: ModelFacts, at_most: int, quantization: str = "") -> list[int]:
    """Every number of devices that works."""
    return [size for size in range(1, at_most + 1) if not tensor_parallel_problem(facts, size, quantization)]


def _heads(facts: ModelFacts, devices: int) -> str:
    if facts.heads % devices:
        return f"{facts.heads} attention heads cannot be divided by {devices}"
    heads = 0 if facts.latent else facts.kv_heads
    uneven = heads % devices if heads >= devices else heads and devices % heads
    return f"{heads} KV heads cannot be divided or copied evenly over {devices}" if uneven else ""


def _vocabulary(facts: ModelFacts, devices: int) -> str:
    padded = -(-facts.vocabulary // _PADDING) * _PADDING
    return f"the vocabulary of {padded} (padded) cannot be divided by {devices}" if padded % devices else ""


def _groups(facts: ModelFacts, devices: int, quantization: str) -> str:
    method = quantization_of(facts, quantization)
    sizes = {facts.intermediate_size} if facts.experts is None else {facts.experts.intermediate_size}
    if facts.experts is not None and facts.experts.dense_layers:
        sizes.add(facts.intermediate_size)
    for size in sorted(sizes):
        if method and method.group and size % (devices * method.group):
            return f"{size} wide layers in groups of {method.group} cannot be divided by {devices}"
    return ""
