"""The tiny model, but so that it never wants to end: an answer has as many tokens as were asked for.

Ollama cannot be told to ignore the end of a text. Here one number of every token's state is large and the end's token
is the only one to look at it, with a large minus.
"""

from pathlib import Path

import gguf
import numpy as np

from sandbox.tiny_model import END, tiny_model

_STATE, _AGAINST = 2.0, -40.0


def endless_model(folder: Path) -> bytes:
    """The content of its file; `folder` is used to make it."""
    path = folder / "endless.gguf"
    path.write_bytes(tiny_model())
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(path, "r+").tensors}
    states, looked_at = (_matrix(tensors[name]) for name in ("token_embd.weight", "output.weight"))
    states[:, 0] = _STATE
    looked_at[:, 0] = 0
    looked_at[END] = 0
    looked_at[END, 0] = _AGAINST
    return _with(path.read_bytes(), {"token_embd.weight": states, "output.weight": looked_at}, tensors)


def _matrix(tensor: gguf.ReaderTensor) -> np.ndarray:
    return np.array(tensor.data, dtype=np.float32).reshape(tensor.data.shape)


def _with(content: bytes, changed: dict[str, np.ndarray], tensors: dict[str, gguf.ReaderTensor]) -> bytes:
    result = bytearray(content)
    for name, matrix in changed.items():
        data = matrix.astype(np.float32).tobytes()
        begin = int(tensors[name].data_offset)
        result[begin : begin + len(data)] = data
    return bytes(result)
