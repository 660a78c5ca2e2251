"""Random models in GGUF that a real llama-server makes embeddings and scores with, and an adapter of the tiny model.

The pooled ones are of the architecture qwen3, which has a head for scores (src/models/qwen3.cpp of llama.cpp): the tiny
llama with a norm for queries and keys. The adapter is as convert_lora_to_gguf.py writes it, and strong enough to change
what the tiny model says.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import gguf
import numpy as np

from sandbox import tiny_model
from sandbox.tiny_model import HEADS, LAYERS, WIDTH, Weights

_ARCHITECTURE = "qwen3"
_HEAD = WIDTH // HEADS
_RANK, _ALPHA = 4, 64.0
_SCORES = ("yes", "no")


def tiny_embedder() -> bytes:
    """A model of which llama.cpp takes the last token's vector."""
    return _content(lambda path: _write_pooled(path, gguf.PoolingType.LAST))


def tiny_reranker() -> bytes:
    """A model of which llama.cpp takes a score."""
    return _content(lambda path: _write_pooled(path, gguf.PoolingType.RANK))


def tiny_adapter() -> bytes:
    """An adapter (LoRA) of the tiny model."""
    return _content(_write_adapter)


def _content(write: Callable[[Path], None]) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "file.gguf")
        write(path)
        return path.read_bytes()


def _write_pooled(path: Path, pooling: gguf.PoolingType) -> None:
    writer, random = gguf.GGUFWriter(path, _ARCHITECTURE), np.random.default_rng(seed=0)
    tiny_model.describe(writer)
    tiny_model.add_vocabulary(writer)
    writer.add_key_length(_HEAD)
    writer.add_value_length(_HEAD)
    writer.add_pooling_type(pooling)
    for name, tensor in tiny_model.tensors(random).items():
        writer.add_tensor(name, tensor)
    for layer in range(LAYERS):
        for norm in ("attn_q_norm", "attn_k_norm"):
            writer.add_tensor(f"blk.{layer}.{norm}.weight", np.ones(_HEAD, np.float32))
    if pooling is gguf.PoolingType.RANK:
        writer.add_classifier_output_labels(list(_SCORES))
        writer.add_tensor("cls.output.weight", _random(random, len(_SCORES), WIDTH))
    tiny_model.finish(writer)


def _write_adapter(path: Path) -> None:
    writer, random = gguf.GGUFWriter(path, "llama"), np.random.default_rng(seed=5)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", _ALPHA)
    for layer in range(LAYERS):
        for part in ("attn_q", "attn_output"):
            writer.add_tensor(f"blk.{layer}.{part}.weight.lora_a", _random(random, _RANK, WIDTH))
            writer.add_tensor(f"blk.{layer}.{part}.weight.lora_b", _random(random, WIDTH, _RANK))
    tiny_model.finish(writer)


def _random(random: np.random.Generator, rows: int, columns: int) -> Weights:
    return random.standard_normal((rows, columns)).astype(np.float32)
