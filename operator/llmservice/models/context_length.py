"""How many tokens a model takes at most, as vLLM derives it from config.json (`_get_and_verify_max_len`)."""

import math
from collections.abc import Mapping
from typing import Any

from llmservice.models.plausible import MalformedModel, count, limit_of, part, word

_NAMES = (
    *("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length"),
    *("max_target_positions", "max_sequence_length", "max_seq_length", "seq_len"),
)
_SCALED_ALREADY = frozenset(("", "default", "mrope", "llama3", "longrope", "su"))
"""Kinds of rope scaling after which `max_position_embeddings` is the scaled length."""
_PADDED = frozenset(("roberta", "xlm-roberta", "camembert"))
"""Their positions begin behind the padding token's (modeling_roberta.py): 514 positions are 512 tokens."""


def longest_context(text: Mapping[str, Any]) -> int:
    """Tokens; 0 where the config does not say. Raises MalformedModel."""
    lengths = [length for name in _NAMES if (length := count(text, "longest_context", name))]
    if not lengths:
        return 0
    kind, length = word(text.get("model_type")), min(lengths)
    if kind in _PADDED:
        return max(0, length - count(text, "vocabulary", "pad_token_id") - 1)
    # Gemma 3 counts its scaled length already.
    return length if kind.startswith("gemma3") else _scaled(length, _scaling(text))


def _scaling(text: Mapping[str, Any]) -> Mapping[str, Any]:
    """`rope_scaling`, or since transformers 5 `rope_parameters`, perhaps one for each kind of layer."""
    scaling = part(text, "rope_scaling", "rope_parameters")
    return part(scaling, "full_attention") or scaling


def _scaled(length: int, scaling: Mapping[str, Any]) -> int:
    kind = word(scaling.get("rope_type")) or word(scaling.get("type"))
    factor = scaling.get("factor")
    if kind in _SCALED_ALREADY or isinstance(factor, bool) or not isinstance(factor, int | float):
        return length
    if kind == "yarn":
        length = count(scaling, "longest_context", "original_max_position_embeddings") or length
    if not (math.isfinite(factor) and 0 < factor * length <= limit_of("longest_context")):
        raise MalformedModel("the factor of rope_scaling is not one that a model has")
    return int(length * factor)
