"""Over how many devices an engine can divide a model's matrices.

vLLM's rules, each an error while it loads: heads and KV heads (config/model.py, linear.py), the vocabulary padded to a
multiple of 64 (vocab_parallel_embedding.py; issue 31474: "151552 is not divisible by 6"), and groups of quantized
weights that must stay whole (marlin_utils.py, fp8_utils.py).
"""

from llmservice.models.model_facts import ModelFacts
from llmservice.models.quantization import quantization_of

_PADDING = 64


def tensor_parallel_problem(
    facts: ModelFacts, devices: int, quantization: str = "", *, whole_experts: bool = False
) -> str:
    """Why the model cannot be divided by so many devices; empty when it can, or nothing is known against it.

    With `whole_experts` (expert parallelism) no expert is divided.
    """
    if devices <= 1:
        return ""
    return (
        _heads(facts, devices)
        or _vocabulary(facts, devices)
        or _groups(facts, devices, quantization, whole_experts=whole_experts)
    )


def tensor_parallel_sizes(
    facts: ModelFacts, at_most: int, quantization: str = "", *, whole_experts: bool = False
) -> list[int]:
    """Every number of devices that works."""
    sizes = range(1, at_most + 1)
    return [
        size for size in sizes if not tensor_parallel_problem(facts, size, quantization, whole_experts=whole_experts)
    ]


def _heads(facts: ModelFacts, devices: int) -> str:
    if facts.heads % devices:
        return f"{facts.heads} attention heads cannot be divided by {devices}"
    heads = 0 if facts.latent else facts.kv_heads
    uneven = heads % devices if heads >= devices else heads and devices % heads
    return f"{heads} KV heads cannot be divided or copied evenly over {devices}" if uneven else ""


def _vocabulary(facts: ModelFacts, devices: int) -> str:
    padded = -(-facts.vocabulary // _PADDING) * _PADDING
    return f"the vocabulary of {padded} (padded) cannot be divided by {devices}" if padded % devices else ""


def _groups(facts: ModelFacts, devices: int, quantization: str, *, whole_experts: bool) -> str:
    method = quantization_of(facts, quantization)
    for size in sorted(_divided(facts, whole_experts=whole_experts)):
        if method and method.group and size % (devices * method.group):
            return f"{size} wide layers in groups of {method.group} cannot be divided by {devices}"
    return ""


def _divided(facts: ModelFacts, *, whole_experts: bool) -> set[int]:
    """The widths of the layers that are divided."""
    if facts.experts is None:
        return {facts.intermediate_size}
    dense = {facts.intermediate_size} if facts.experts.dense_layers else set()
    return dense if whole_experts else dense | {facts.experts.intermediate_size}
