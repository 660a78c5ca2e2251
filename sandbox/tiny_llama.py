"""A random Llama of two megabytes in Hugging Face's format: a real vLLM loads it and answers, with nonsense.

Formats: safetensors (README of huggingface/safetensors: length, JSON header, data), tokenizer.json of tokenizers with
the vocabulary of the GGUF model. Heads are 64 wide: vLLM's attention on CPUs refuses the smallest sizes.
"""

import json
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sandbox.tiny_model import END, START, UNKNOWN, vocabulary

LAYERS, WIDTH, HEADS, KV_HEADS, FEED_FORWARD, CONTEXT_TOKENS = 2, 256, 4, 2, 256, 32768
_LETTERS_BEGIN = 3 + 256
"""Before them stand special tokens and bytes."""
CHAT_TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"

Halves = npt.NDArray[np.uint16]
"""bfloat16 by its bits, which numpy has no type for."""


def write_tiny_llama(folder: Path, *, only_letters: bool = False) -> None:
    """Write config.json, model.safetensors and the tokenizer's files; the same bytes each time.

    With `only_letters` the likeliest token is never a byte or an end: some decoders of text stop at bytes that are no
    character.
    """
    folder.mkdir(parents=True, exist_ok=True)
    documents = {"config": _config(), "tokenizer": _tokenizer(), "tokenizer_config": _tokenizer_config()}
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    tensors = _tensors(np.random.default_rng(seed=0))
    if only_letters:
        tensors["lm_head.weight"][:_LETTERS_BEGIN] = 0
    (folder / "model.safetensors").write_bytes(safetensors(tensors))


def safetensors(tensors: dict[str, Halves]) -> bytes:
    """Tensors of bfloat16 as the content of a safetensors file."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, tensor in tensors.items():
        begin, end = end, end + tensor.nbytes
        header[name] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [begin, end]}
    document = json.dumps(header).encode()
    document += b" " * (-len(document) % 8)
    return struct.pack("<Q", len(document)) + document + b"".join(tensor.tobytes() for tensor in tensors.values())


def _config() -> dict[str, object]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "bfloat16",
        "vocab_size": len(vocabulary()),
        "hidden_size": WIDTH,
        "intermediate_size": FEED_FORWARD,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "max_position_embeddings": CONTEXT_TOKENS,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "bos_token_id": START,
        "eos_token_id": END,
        "tie_word_embeddings": False,
    }


def _tokenizer() -> dict[str, object]:
    """Bytes and letters without merges; the GGUF model's vocabulary holds nothing else."""
    tokens = [text for text, _ in vocabulary()]
    special = [{"id": number, "content": tokens[number], "special": True} for number in (UNKNOWN, START, END)]
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {
        "version": "1.0",
        "added_tokens": [plain | token for token in special],
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
            ],
        },
        "model": {
            "type": "BPE",
            "unk_token": tokens[UNKNOWN],
            "byte_fallback": True,
            "vocab": {text: number for number, text in enumerate(tokens)},
            "merges": [],
        },
    }


def _tokenizer_config() -> dict[str, object]:
    tokens = [text for text, _ in vocabulary()]
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": tokens[UNKNOWN],
        "bos_token": tokens[START],
        "eos_token": tokens[END],
        "chat_template": CHAT_TEMPLATE,
        "model_max_length": CONTEXT_TOKENS,
    }


def _tensors(random: np.random.Generator) -> dict[str, Halves]:
    """Names and shapes (rows, columns) as transformers' LlamaForCausalLM has them."""

    def weights(rows: int, columns: int) -> Halves:
        return _bfloat16((random.standard_normal((rows, columns)) * 0.02).astype(np.float32))

    ones, kv_width, tokens = _bfloat16(np.ones(WIDTH, np.float32)), WIDTH * KV_HEADS // HEADS, len(vocabulary())
    tensors = {
        "model.embed_tokens.weight": weights(tokens, WIDTH),
        "model.norm.weight": ones,
        "lm_head.weight": weights(tokens, WIDTH),
    }
    for layer in range(LAYERS):
        block = {
            "input_layernorm": ones,
            "post_attention_layernorm": ones,
            "self_attn.q_proj": weights(WIDTH, WIDTH),
            "self_attn.k_proj": weights(kv_width, WIDTH),
            "self_attn.v_proj": weights(kv_width, WIDTH),
            "self_attn.o_proj": weights(WIDTH, WIDTH),
            "mlp.gate_proj": weights(FEED_FORWARD, WIDTH),
            "mlp.up_proj": weights(FEED_FORWARD, WIDTH),
            "mlp.down_proj": weights(WIDTH, FEED_FORWARD),
        }
        tensors |= {f"model.layers.{layer}.{name}.weight": tensor for name, tensor in block.items()}
    return tensors


def _bfloat16(values: npt.NDArray[np.float32]) -> Halves:
    """The upper half of each float32."""
    return (values.view(np.uint32) >> 16).astype(np.uint16)
