"""Over how many devices an engine can divide a model's matrices.

vLLM's rules, each an error while it loads: heads and KV heads (config/model.py, linear.py), the vocabulary padded to a
multiple of 64 (vocab_parallel_embedding.py; issue 31474: "151552 is not divisible by 6"), and groups of quantized
weights that must stay whole (marlin_utils.py, fp8_utils.py).
"""

from llmservice.models.model_facts import ModelFacts
from llmservice.models.quantization import quantization_of

_PADDING = 64


def tensor_parallel_problem(
    facts: ModelFacts, devices: int, quantization: str = "", *, whole_experts: bool = False, copies: int = 1
) -> str:
    """Why the model cannot be divided by so many devices; empty when it can, or nothing is known against it.

    With `whole_experts` (expert parallelism) no expert is divided; else each is by the devices of all `copies` that
    share the experts.
    """
    if devices * copies <= 1:
        return ""
    return (
        _heads(facts, devices)
        or _vocabulary(facts, devices)
        or _groups(facts, devices, quantization, copies=0 if whole_experts else copies)
    )


def stages_problem(facts: ModelFacts, stages: int) -> str:
    """Why the layers cannot be divided into so many stages; empty when they can, or their number is not known."""
    return f"{facts.layers} layers cannot be divided into {stages} stages" if 0 < facts.layers < stages else ""


def experts_problem(facts: ModelFacts, devices: int) -> str:
    """Why whole experts cannot be spread over so many devices; empty when they can, or nothing is known of layers.

    vLLM ends with a model without experts (config/model.py, _verify_with_expert_parallelism).
    """
    if devices <= 1 or not facts.layers:
        return ""
    if facts.experts is None:
        return f"the model has no experts to spread over {devices} devices"
    return f"{facts.experts.count} experts cannot be spread over {devices} devices" * (facts.experts.count < devices)


def _heads(facts: ModelFacts, devices: int) -> str:
    if facts.heads % devices:
        return f"{facts.heads} attention heads cannot be divided by {devices}"
    heads = 0 if facts.latent else facts.kv_heads
    uneven = heads % devices if heads >= devices else heads and devices % heads
    return f"{heads} KV heads cannot be divided or copied evenly over {devices}" if uneven else ""


def _vocabulary(facts: ModelFacts, devices: int) -> str:
    padded = -(-facts.vocabulary // _PADDING) * _PADDING
    return f"the vocabulary of {padded} (padded) cannot be divided by {devices}" if padded % devices else ""


def _groups(facts: ModelFacts, devices: int, quantization: str, *, copies: int) -> str:
    method = quantization_of(facts, quantization)
    for size, parts in sorted(_divided(facts, devices, copies)):
        if method and method.group and size % (parts * method.group):
            return f"{size} wide layers in groups of {method.group} cannot be divided by {parts}"
    return ""


def _divided(facts: ModelFacts, devices: int, copies: int) -> set[tuple[int, int]]:
    """The widths of the layers that are divided, and by how many; with 0 copies experts are not."""
    if facts.experts is None:
        return {(facts.intermediate_size, devices)}
    dense = {(facts.intermediate_size, devices)} if facts.experts.dense_layers else set()
    return dense | {(facts.experts.intermediate_size, devices * copies)} if copies else dense
