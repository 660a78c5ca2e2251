"""ModelFacts from a config.json of transformers. Fields that no fact needs are passed over, whatever they hold.

Names of fields: transformers' `configuration_*.py`; the same size has had many names.
"""

from collections.abc import Mapping
from typing import Any

from llmservice.models.attention_layers import attention_layers
from llmservice.models.checkpoint_quantization import checkpoint_quantization
from llmservice.models.context_length import longest_context
from llmservice.models.expert_sizes import experts_in
from llmservice.models.model_facts import LatentAttention, ModelFacts
from llmservice.models.model_task import is_encoder, task_of
from llmservice.models.plausible import MalformedModel, count, json_object, part, word

MOST_CONFIG_BYTES = 2**20
"""Large ones name thousands of labels; those of language models have a few kB."""

_DTYPES = ("bfloat16", "float16", "float32")
_CLASS_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "gemma3_text": {
        "vocab_size": 262_208,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "max_position_embeddings": 131_072,
    },
}
"""What a published config.json leaves out, because it is what the class has by default (configuration_gemma3.py)."""
_TIED = frozenset(("gemma", "gemma2", "gemma3", "gemma3_text", "gemma3n", "bert", "xlm-roberta", "roberta", "whisper"))
_UNTIED = frozenset(
    (
        *("llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "phi", "phi3", "gpt_oss"),
        *("gpt_neox", "deepseek_v2", "deepseek_v3", "stablelm", "glm4_moe", "minimax"),
    )
)
"""By `model_type`, where config.json says nothing: transformers leaves a default out."""


def facts_of_config(config: Mapping[str, Any]) -> ModelFacts:
    """What config.json says; of a model that also sees or hears, of its language part. Raises MalformedModel."""
    text = text_part(config)
    layers = count(text, "layers", "num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers")
    hidden = count(text, "hidden_size", "hidden_size", "n_embd", "d_model", "model_dim", "dim")
    heads = count(text, "heads", "num_attention_heads", "decoder_attention_heads", "n_head", "n_heads", "num_heads")
    context = longest_context(text)
    kinds = attention_layers(text, layers=layers, heads=heads, context=context)
    latent = _latent(text)
    quantization = checkpoint_quantization(config, text)
    return ModelFacts(
        architecture=architecture_of(config),
        task=task_of(architecture_of(config), config),
        longest_context=context,
        layers=layers,
        hidden_size=hidden,
        intermediate_size=_intermediate(text, hidden),
        heads=heads,
        kv_heads=_kv_heads(text, heads),
        head_size=_head_size(text, hidden, heads, latent),
        vocabulary=count(text, "vocabulary", "vocab_size", "padded_vocab_size"),
        tied_embeddings=_tied(config, text),
        experts=experts_in(text, layers),
        latent=latent,
        sliding_window=kinds.window,
        sliding_layers=kinds.sliding,
        linear_layers=layers if is_encoder(config) else kinds.linear,
        quantization=quantization.method,
        quantization_bits=quantization.bits,
        quantization_group=quantization.group,
        dtype=_dtype(text) or _dtype(config),
    )


def config_in(data: bytes) -> dict[str, Any]:
    """The content of a config.json; raises MalformedModel."""
    return json_object(data, "config.json", MOST_CONFIG_BYTES)


def text_part(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The language part of a model of several, with what its class has by default; else the whole."""
    outer = part(config, "thinker_config") or config
    text = part(outer, "text_config", "llm_config", "language_config") or outer
    return {**_CLASS_DEFAULTS.get(word(text.get("model_type")), {}), **text}


def architecture_of(config: Mapping[str, Any]) -> str:
    """The class that loads the model, the first that is named; empty where none is."""
    named = config.get("architectures")
    return word(named[0]) if isinstance(named, list) and named else ""


def _intermediate(text: Mapping[str, Any], hidden: int) -> int:
    names = ("intermediate_size_mlp", "intermediate_size", "ffn_dim", "decoder_ffn_dim", "n_inner", "ffn_hidden_size")
    given = count(text, "intermediate_size", *names, "d_ff")
    # GPT-2 and GPT-J: four times as wide, where n_inner is null.
    return given or (4 * hidden if "n_inner" in text else 0)


def _kv_heads(text: Mapping[str, Any], heads: int) -> int:
    """As many as heads, unless fewer are named: as a number, or as one for all."""
    named = count(text, "kv_heads", "num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num")
    named = named or count(part(text, "attn_config"), "kv_heads", "kv_n_heads")
    if named and text.get("new_decoder_architecture") is not False:
        return named
    return 1 if heads and text.get("multi_query") is True else heads


def _head_size(text: Mapping[str, Any], hidden: int, heads: int, latent: LatentAttention | None) -> int:
    if latent:
        return latent.nope_size + latent.rope_size
    return count(text, "head_size", "head_dim", "attention_head_dim", "kv_channels") or (
        hidden // heads if heads else 0
    )


def _latent(text: Mapping[str, Any]) -> LatentAttention | None:
    rank = count(text, "rank", "kv_lora_rank")
    if not rank:
        return None
    rope = count(text, "rope_size", "qk_rope_head_dim")
    if not rope:
        raise MalformedModel("kv_lora_rank is given without qk_rope_head_dim")
    return LatentAttention(
        rank=rank,
        rope_size=rope,
        query_rank=count(text, "query_rank", "q_lora_rank"),
        nope_size=count(text, "nope_size", "qk_nope_head_dim"),
        value_size=count(text, "value_size", "v_head_dim"),
    )


def _tied(config: Mapping[str, Any], text: Mapping[str, Any]) -> bool | None:
    for place in (text, config):
        if isinstance(said := place.get("tie_word_embeddings"), bool):
            return said
    kind = word(text.get("model_type"))
    return True if kind in _TIED else False if kind in _UNTIED else None


def _dtype(place: Mapping[str, Any]) -> str:
    named = word(place.get("dtype")) or word(place.get("torch_dtype"))
    return named if (named := named.removeprefix("torch.")) in _DTYPES else ""
