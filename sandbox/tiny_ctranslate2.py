"""The tiny random Llama in CTranslate2's format: the real library loads it and answers, with nonsense.

Format: ModelSpec._serialize of ctranslate2/specs/model_spec.py 4.8 (binary version 6): name, shape, type and bytes of
each variable, then aliases. Names and shapes are what `ct2-transformers-converter` makes of a LlamaForCausalLM.
"""

import json
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sandbox.tiny_llama import HEADS, KV_HEADS, LAYERS, WIDTH, write_tiny_llama
from sandbox.tiny_model import END, START, UNKNOWN, vocabulary

_BINARY_VERSION, _REVISION = 6, 8
_SPECIFICATION = "TransformerDecoderSpec"
_TYPES = {"float32": 0, "int8": 1, "int16": 2, "int32": 3}
_SWISH = 2
_FEED_FORWARD = 256

Variable = npt.NDArray[np.generic]


def write_tiny_ctranslate2(folder: Path) -> None:
    """Write model.bin, config.json, vocabulary.json and the tokenizer's files; the same bytes each time."""
    write_tiny_llama(folder)
    (folder / "model.safetensors").unlink()
    tokens = [text for text, _ in vocabulary()]
    (folder / "vocabulary.json").write_text(json.dumps(tokens))
    config = {
        "bos_token": tokens[START],
        "eos_token": tokens[END],
        "unk_token": tokens[UNKNOWN],
        "layer_norm_epsilon": 1e-5,
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.bin").write_bytes(model_bin(_variables(np.random.default_rng(seed=0))))


def model_bin(variables: dict[str, Variable], specification: str = _SPECIFICATION) -> bytes:
    """The content of a model.bin."""
    parts = [struct.pack("<I", _BINARY_VERSION), _string(specification), struct.pack("<II", _REVISION, len(variables))]
    for name in sorted(variables):
        value = variables[name]
        parts += [_string(name), struct.pack(f"<B{value.ndim}I", value.ndim, *value.shape)]
        parts += [struct.pack("<BI", _TYPES[value.dtype.name], value.nbytes), value.tobytes()]
    return b"".join((*parts, struct.pack("<I", 0)))


def _string(text: str) -> bytes:
    return struct.pack("<H", len(text) + 1) + text.encode() + b"\0"


def _variables(random: np.random.Generator) -> dict[str, Variable]:
    """Shapes are (rows, columns); keys are grouped, positions rotary, feed-forward layers gated."""

    def weights(rows: int, columns: int) -> Variable:
        return (random.standard_normal((rows, columns)) * 0.05).astype(np.float32)

    ones, kv_width, tokens = np.ones(WIDTH, np.float32), WIDTH * KV_HEADS // HEADS, len(vocabulary())
    found: dict[str, Variable] = {
        "decoder/embeddings/weight": weights(tokens, WIDTH),
        "decoder/layer_norm/gamma": ones,
        "decoder/projection/weight": weights(tokens, WIDTH),
        **{f"decoder/{name}": np.array(value) for name, value in _settings().items()},
    }
    for layer in range(LAYERS):
        block = {
            "self_attention/layer_norm/gamma": ones,
            "self_attention/linear_0/weight": weights(WIDTH + 2 * kv_width, WIDTH),
            "self_attention/linear_1/weight": weights(WIDTH, WIDTH),
            "self_attention/num_heads_kv": np.array(np.int32(KV_HEADS)),
            "self_attention/rotary_base": np.array(np.float32(10000)),
            "self_attention/rotary_dim": np.array(np.int32(0)),
            "self_attention/rotary_interleave": np.array(np.int8(0)),
            "ffn/layer_norm/gamma": ones,
            "ffn/linear_0/weight": weights(_FEED_FORWARD, WIDTH),
            "ffn/linear_0_noact/weight": weights(_FEED_FORWARD, WIDTH),
            "ffn/linear_1/weight": weights(WIDTH, _FEED_FORWARD),
        }
        found |= {f"decoder/layer_{layer}/{name}": value for name, value in block.items()}
    return found


def _settings() -> dict[str, np.generic]:
    """What TransformerDecoderSpec.__init__ writes down of its arguments."""
    return {
        "num_heads": np.int16(HEADS),
        "pre_norm": np.int8(1),
        "activation": np.int8(_SWISH),
        "alignment_layer": np.int16(-1),
        "alignment_heads": np.int16(1),
        "scale_embeddings": np.int8(0),
        "scale_alibi": np.int8(0),
        "alibi": np.int8(0),
        "alibi_use_positive_positions": np.int8(0),
        "start_from_zero_embedding": np.int8(0),
    }
