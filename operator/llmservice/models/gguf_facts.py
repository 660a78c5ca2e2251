"""ModelFacts from a GGUF header. Names of keys: ggml's docs/gguf.md and gguf-py's constants.py."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llmservice.models.gguf_file_types import GUESSED, PLAIN, QUANTIZED
from llmservice.models.gguf_header import GgufHeader
from llmservice.models.model_facts import Experts, LatentAttention, ModelFacts, Task
from llmservice.models.plausible import MalformedModel, count, word

_FULL_EVERY = {"gemma2": 2, "gemma3": 6, "cohere2": 4, "gpt-oss": 2, "llama4": 4}
"""Every so manieth layer keeps all tokens, where llama.cpp has the pattern in its code (llama-model.cpp)."""
_STATE_ONLY = frozenset(("mamba", "mamba2", "rwkv6", "rwkv7"))
_POOLING_VECTOR, _POOLING_RANK = (1, 2, 3), 4
"""Values of `pooling_type`: the mean, the first or the last token; a score (llama.cpp, enum llama_pooling_type)."""
_POOLED = frozenset(("bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "jina-bert-v3", "gemma-embedding"))


@dataclass(frozen=True, slots=True)
class _Keys:
    """The keys of one architecture, without its name."""

    architecture: str
    values: Mapping[str, Any]

    def count(self, fact: str, *names: str) -> int:
        return count(self.values, fact, *(f"{self.architecture}.{name}" for name in names))

    def list_of(self, name: str) -> list[Any]:
        found = self.values.get(f"{self.architecture}.{name}")
        return found if isinstance(found, list) else []


def facts_of_gguf(header: GgufHeader, file_bytes: int, *, parts: int = 1) -> ModelFacts:
    """What a header says; `parts` is of how many files the model consists. Raises MalformedModel."""
    architecture = word(header.values.get("general.architecture"))
    if not architecture:
        raise MalformedModel("general.architecture is missing: the file is no model")
    keys = _Keys(architecture, header.values)
    layers = max(0, keys.count("layers", "block_count") - keys.count("layers", "nextn_predict_layers"))
    heads, hidden = keys.count("heads", "attention.head_count"), keys.count("hidden_size", "embedding_length")
    linear, latent = _linear(keys, layers), _latent(keys)
    window = keys.count("sliding_window", "attention.sliding_window", "attention.chunk_size")
    sliding = min(layers - linear, _sliding(keys, layers)) if window else 0
    kind = header.values.get("general.file_type")
    number = kind % GUESSED if isinstance(kind, int) and kind >= 0 else -1
    return ModelFacts(
        architecture=architecture,
        task=_task(keys),
        longest_context=keys.count("longest_context", "context_length"),
        layers=layers,
        hidden_size=hidden,
        intermediate_size=keys.count("intermediate_size", "feed_forward_length", "expert_feed_forward_length"),
        heads=heads,
        kv_heads=heads if latent else keys.count("kv_heads", "attention.head_count_kv") or heads,
        head_size=_head_size(keys, hidden, heads, latent),
        vocabulary=_vocabulary(keys, header),
        tied_embeddings=_tied(header, parts),
        experts=_experts(keys, layers),
        latent=latent,
        sliding_window=window if sliding else 0,
        sliding_layers=sliding,
        linear_layers=linear,
        parameters=header.parameters if parts == 1 else 0,
        file_bytes=file_bytes,
        quantization=QUANTIZED.get(number, ""),
        dtype=PLAIN.get(number, ""),
    )


def _task(keys: _Keys) -> Task:
    """A model that pools says how, or its architecture can nothing else."""
    pooling = keys.values.get(f"{keys.architecture}.pooling_type")
    if pooling == _POOLING_RANK:
        return Task.RERANK
    return Task.EMBED if keys.architecture in _POOLED or pooling in _POOLING_VECTOR else Task.GENERATE


def _head_size(keys: _Keys, hidden: int, heads: int, latent: LatentAttention | None) -> int:
    if latent:
        return latent.nope_size + latent.rope_size
    return keys.count("head_size", "attention.key_length") or (hidden // heads if heads else 0)


def _vocabulary(keys: _Keys, header: GgufHeader) -> int:
    listed = {"tokens": header.lengths.get("tokenizer.ggml.tokens", 0)}
    return keys.count("vocabulary", "vocab_size") or count(listed, "vocabulary", "tokens")


def _tied(header: GgufHeader, parts: int) -> bool | None:
    """A model without an output tensor of its own uses that of its embeddings."""
    return "output.weight" not in header.tensors if parts == 1 and "token_embd.weight" in header.tensors else None


def _experts(keys: _Keys, layers: int) -> Experts | None:
    number = keys.count("count", "expert_count")
    if number <= 1:
        return None
    return Experts(
        count=number,
        active=keys.count("active", "expert_used_count"),
        intermediate_size=keys.count("intermediate_size", "expert_feed_forward_length", "feed_forward_length"),
        shared=keys.count("shared", "expert_shared_count"),
        dense_layers=min(layers, keys.count("layers", "leading_dense_block_count")),
    )


def _latent(keys: _Keys) -> LatentAttention | None:
    """Since 2025 the sizes before compression have keys of their own (`_mla`)."""
    rank, rope = keys.count("rank", "attention.kv_lora_rank"), keys.count("rope_size", "rope.dimension_count")
    if not rank or not rope:
        return None
    whole = keys.count("head_size", "attention.key_length_mla", "attention.key_length")
    return LatentAttention(
        rank=rank,
        rope_size=rope,
        query_rank=keys.count("query_rank", "attention.q_lora_rank"),
        nope_size=max(0, whole - rope),
        value_size=keys.count("value_size", "attention.value_length_mla", "attention.value_length"),
    )


def _linear(keys: _Keys, layers: int) -> int:
    """Layers without heads for keys and values, or all but every so manieth; encoders keep nothing of a prompt."""
    if keys.architecture in _STATE_ONLY | _POOLED:
        return layers
    if heads := keys.list_of("attention.head_count_kv"):
        return min(layers, [bool(number) for number in heads].count(False))
    every = keys.count("layers", "full_attention_interval")
    return layers - layers // every if every else 0


def _sliding(keys: _Keys, layers: int) -> int:
    """A flag for each layer, or every so manieth; none where neither is known, which asks for more memory."""
    if flags := keys.list_of("attention.sliding_window_pattern"):
        return min(layers, [bool(flag) for flag in flags].count(True))
    every = keys.count("layers", "attention.sliding_window_pattern") or _FULL_EVERY.get(keys.architecture, 0)
    return layers - layers // every if every else 0
