"""Which layers keep all tokens, which the last ones only, and which a state that does not grow.

Names of fields: transformers' `configuration_*.py`. A list of every layer is believed before any rule.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from llmservice.models.plausible import count, part, word

_SLIDING = frozenset(("sliding_attention", "chunked_attention", "local_attention", "sliding", "local"))
_GROWING = frozenset(("full_attention", "attention", "hybrid", "global", "global_attention")) | _SLIDING
_MOST_LISTED = 10_000
_FULL_EVERY = {"gemma2": 2, "gemma3": 6, "gemma3_text": 6, "cohere2": 4, "gpt_oss": 2}
"""Every so manieth layer keeps all tokens, where config.json leaves the pattern to the class."""
_WINDOW_NAMES = ("sliding_window", "attention_chunk_size", "sliding_window_size", "window_size")


@dataclass(frozen=True, slots=True)
class AttentionLayers:
    """`sliding` layers keep `window` tokens, `linear` ones none; all others keep every token."""

    window: int = 0
    sliding: int = 0
    linear: int = 0


def attention_layers(text: Mapping[str, Any], *, layers: int, heads: int, context: int) -> AttentionLayers:
    """The kinds of a model's layers, by the part of config.json that is about language. Raises MalformedModel."""
    linear = min(layers, _linear(text, layers, heads))
    window = _window(text, context)
    sliding = min(layers - linear, _sliding(text, layers - linear)) if window else 0
    return AttentionLayers(window if sliding else 0, sliding, linear)


def _window(text: Mapping[str, Any], context: int) -> int:
    """0 where none is used, or it is as long as the model's context."""
    window = count(text, "sliding_window", *_WINDOW_NAMES)
    return 0 if text.get("use_sliding_window") is False or (context and window >= context) else window


def _listed(text: Mapping[str, Any]) -> list[str]:
    named = text.get("layer_types") or text.get("layers_block_type") or text.get("block_types")
    return [word(item) for item in named[:_MOST_LISTED]] if isinstance(named, list) else []


def _sliding(text: Mapping[str, Any], layers: int) -> int:
    if listed := _listed(text):
        return sum(kind in _SLIDING for kind in listed)
    if text.get("attention_chunk_size"):
        return _roped(text, layers)
    every = _number(text, "sliding_window_pattern", "_sliding_window_pattern")
    every = every or _FULL_EVERY.get(word(text.get("model_type")), 0)
    if every:
        return layers - layers // every
    if text.get("use_sliding_window") is True and (full := count(text, "layers", "max_window_layers")):
        return max(0, layers - full)
    return layers


def _roped(text: Mapping[str, Any], layers: int) -> int:
    """Llama 4: layers with positions attend in chunks, those without to everything."""
    listed = text.get("no_rope_layers")
    if isinstance(listed, list) and listed:
        return listed[:_MOST_LISTED].count(1)
    return layers - layers // (_number(text, "no_rope_layer_interval") or 4)


def _linear(text: Mapping[str, Any], layers: int, heads: int) -> int:
    rules: tuple[Callable[[], int | None], ...] = (
        lambda: _by_list(text, layers),
        lambda: _by_pattern(text),
        lambda: _by_interval(text, layers),
    )
    found = next((number for rule in rules if (number := rule()) is not None), None)
    if found is not None:
        return found
    # Mamba alone: no heads of attention, but a state.
    return layers if not heads and ("state_size" in text or "ssm_cfg" in text) else 0


def _by_list(text: Mapping[str, Any], layers: int) -> int | None:
    """Jamba, Bamba, Qwen3-Next, LFM2; MiniMax (1 attends to all); Kimi Linear (names the layers that do)."""
    if listed := _listed(text):
        growing = sum(kind in _GROWING for kind in listed)
        return len(listed) - growing if len(listed) == layers else round(layers * (1 - growing / len(listed)))
    if isinstance(kinds := text.get("attn_type_list"), list):
        return kinds[:_MOST_LISTED].count(0)
    full = part(text, "linear_attn_config").get("full_attn_layers") or text.get("attn_layer_indices")
    return max(0, layers - len(full)) if isinstance(full, list) else None


def _by_pattern(text: Mapping[str, Any]) -> int | None:
    """Nemotron-H: a letter for each block, of which `*` is attention."""
    pattern = text.get("hybrid_override_pattern")
    if not isinstance(pattern, str) or len(pattern) > _MOST_LISTED:
        return None
    return len(pattern) - pattern.count("*")


def _by_interval(text: Mapping[str, Any], layers: int) -> int | None:
    """Qwen3-Next: every fourth layer attends; Jamba: every eighth from the fifth on."""
    if every := _number(text, "full_attention_interval"):
        return layers - layers // every
    if every := _number(text, "attn_layer_period"):
        return layers - len(range(_number(text, "attn_layer_offset"), layers, every))
    return None


def _number(text: Mapping[str, Any], *names: str) -> int:
    """A number of layers; 0 also for what is said in another way, as a word of letters for each layer."""
    return count({name: text.get(name) for name in names if isinstance(text.get(name), int)}, "layers", *names)
