"""A random llama model of half a megabyte in GGUF: a real llama-server loads it and answers, with nonsense.

The format is llama.cpp's (docs/gguf.md of ggml). The vocabulary is the smallest that its sentencepiece tokenizer takes:
three special tokens, the 256 byte tokens, and the alphabet with and without a leading space.
"""

import string
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import gguf
import numpy as np
import numpy.typing as npt

from sandbox.cache import Build, Recipe
from sandbox.progress import Say

LAYERS, WIDTH, HEADS, KV_HEADS, FEED_FORWARD, CONTEXT_TOKENS = 2, 64, 4, 2, 128, 4096
FILE = "tiny.gguf"
SPACE = "\u2581"
UNKNOWN, START, END = 0, 1, 2

Weights = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Of a model of this form; `heads` divides `width`, `kv_heads` divides `heads`."""

    layers: int = LAYERS
    width: int = WIDTH
    heads: int = HEADS
    kv_heads: int = KV_HEADS
    feed_forward: int = FEED_FORWARD


TINY = Sizes()


def tiny_model_build() -> Build:
    """A folder with the one file `tiny.gguf`."""
    recipe = Recipe(name="tiny-model", version="1", inputs={"recipe": Path(__file__).read_bytes()})
    return Build(recipe=recipe, title="Make the tiny model", make=_make)


def _make(work: Path, output: Path, _say: Say) -> None:
    del work
    write_model(output / FILE)


def tiny_model() -> bytes:
    """The model as the content of a file, for clusters that cannot see this machine's."""
    with TemporaryDirectory() as folder:
        path = Path(folder, FILE)
        write_model(path)
        return path.read_bytes()


def write_model(path: Path, sizes: Sizes = TINY) -> None:
    """Write the file; larger sizes make an engine that takes time, as a benchmark needs one."""
    writer = gguf.GGUFWriter(path, "llama")
    describe(writer, sizes)
    add_vocabulary(writer)
    for name, tensor in tensors(np.random.default_rng(seed=0), sizes).items():
        writer.add_tensor(name, tensor)
    finish(writer)


def finish(writer: gguf.GGUFWriter) -> None:
    """Write everything that was added."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def vocabulary() -> list[tuple[str, gguf.TokenType]]:
    """Every token with its type, in order of their numbers."""
    special = [("<unk>", gguf.TokenType.UNKNOWN), ("<s>", gguf.TokenType.CONTROL), ("</s>", gguf.TokenType.CONTROL)]
    bytes_ = [(f"<0x{value:02X}>", gguf.TokenType.BYTE) for value in range(256)]
    words = [SPACE + letter for letter in string.ascii_lowercase] + list(string.ascii_lowercase)
    return [*special, *bytes_, *((word, gguf.TokenType.NORMAL) for word in words)]


def describe(writer: gguf.GGUFWriter, sizes: Sizes = TINY) -> None:
    """Add the sizes, by the names of the writer's architecture."""
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT_TOKENS)
    writer.add_embedding_length(sizes.width)
    writer.add_block_count(sizes.layers)
    writer.add_feed_forward_length(sizes.feed_forward)
    writer.add_head_count(sizes.heads)
    writer.add_head_count_kv(sizes.kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(sizes.width // sizes.heads)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)


def add_vocabulary(writer: gguf.GGUFWriter) -> None:
    """Add every token."""
    tokens = vocabulary()
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in tokens])
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([int(kind) for _, kind in tokens])
    writer.add_unk_token_id(UNKNOWN)
    writer.add_bos_token_id(START)
    writer.add_eos_token_id(END)


def tensors(random: np.random.Generator, sizes: Sizes = TINY) -> dict[str, Weights]:
    """Names and shapes (rows, columns) as llama.cpp expects them of the llama architecture."""

    def weights(rows: int, columns: int) -> Weights:
        return (random.standard_normal((rows, columns)) * 0.05).astype(np.float32)

    width, hidden = sizes.width, sizes.feed_forward
    ones, kv_width, tokens = np.ones(width, np.float32), width * sizes.kv_heads // sizes.heads, len(vocabulary())
    found = {
        "token_embd.weight": weights(tokens, width),
        "output_norm.weight": ones,
        "output.weight": weights(tokens, width),
    }
    for layer in range(sizes.layers):
        block = {
            "attn_norm": ones,
            "ffn_norm": ones,
            "attn_q": weights(width, width),
            "attn_k": weights(kv_width, width),
            "attn_v": weights(kv_width, width),
            "attn_output": weights(width, width),
            "ffn_gate": weights(hidden, width),
            "ffn_up": weights(hidden, width),
            "ffn_down": weights(width, hidden),
        }
        found |= {f"blk.{layer}.{name}.weight": tensor for name, tensor in block.items()}
    return found
