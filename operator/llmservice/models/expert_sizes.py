"""The experts of a mixture, by config.json."""

from collections.abc import Mapping
from typing import Any

from llmservice.models.model_facts import Experts
from llmservice.models.plausible import count, word

_COUNTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
_ACTIVE = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", "top_k_experts", "top_k")
_WIDTHS = ("moe_intermediate_size", "expert_intermediate_size", "moe_ffn_hidden_size", "intermediate_size")


def experts_in(text: Mapping[str, Any], layers: int) -> Experts | None:
    """None of a dense model. Raises MalformedModel."""
    number = count(text, "count", *_COUNTS)
    if number <= 1:
        return None
    width = count(text, "intermediate_size", *_WIDTHS)
    return Experts(
        count=number,
        active=count(text, "active", *_ACTIVE),
        intermediate_size=width,
        shared=_shared(text, width),
        dense_layers=min(layers, _dense_layers(text, layers)),
    )


def _shared(text: Mapping[str, Any], width: int) -> int:
    """In widths of one expert; Llama 4 always has one."""
    if named := count(text, "shared", "n_shared_experts", "num_shared_experts", "moe_num_shared_experts"):
        return named
    wide = count(text, "intermediate_size", "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size")
    if wide and width:
        return max(1, wide // width)
    return 1 if word(text.get("model_type")) == "llama4_text" else 0


def _dense_layers(text: Mapping[str, Any], layers: int) -> int:
    """The first ones (DeepSeek), all but every so manieth (Qwen, Llama 4), those named, or blocks of another kind."""
    if isinstance(pattern := text.get("hybrid_override_pattern"), str):
        return max(0, layers - pattern.count("E"))
    if isinstance(sparse := text.get("moe_layers"), list) and sparse:
        return max(0, layers - len(sparse))
    step = count(text, "layers", "decoder_sparse_step", "interleave_moe_layer_step", "expert_layer_period") or 1
    named = text.get("mlp_only_layers")
    first = count(text, "layers", "first_k_dense_replace")
    return layers - layers // step + first + (len(named) if isinstance(named, list) else 0)
