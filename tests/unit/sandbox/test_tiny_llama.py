import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.tiny_llama import safetensors, write_tiny_llama
from sandbox.tiny_model import vocabulary


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tiny_llama(tmp_path / "tiny-llama")
    return tmp_path / "tiny-llama"


def header(content: bytes) -> dict[str, dict[str, Any]]:
    (length,) = struct.unpack("<Q", content[:8])
    return dict(json.loads(content[8 : 8 + length]))


def test_tensors_lie_one_after_the_other_behind_an_aligned_header() -> None:
    content = safetensors({"a": np.array([1, 2], np.uint16), "b": np.array([[3]], np.uint16)})
    described = header(content)
    assert described["a"] == {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}
    assert described["b"] == {"dtype": "BF16", "shape": [1, 1], "data_offsets": [4, 6]}
    assert (len(content) - 6) % 8 == 0
    assert content[-6:] == struct.pack("<3H", 1, 2, 3)


def test_the_model_is_a_llama_of_two_layers(folder: Path) -> None:
    tensors = header((folder / "model.safetensors").read_bytes())
    assert len(tensors) == 1 + 3 + 2 * 9
    assert json.loads((folder / "config.json").read_text())["num_hidden_layers"] == 2


def test_every_token_has_an_embedding(folder: Path) -> None:
    embeddings = header((folder / "model.safetensors").read_bytes())["model.embed_tokens.weight"]
    assert embeddings["shape"] == [len(vocabulary()), 256]
    assert len(json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]) == len(vocabulary())


def test_the_model_is_the_same_each_time(folder: Path, tmp_path: Path) -> None:
    write_tiny_llama(tmp_path / "again")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()
    }


def test_the_likeliest_token_can_be_kept_to_letters(tmp_path: Path) -> None:
    write_tiny_llama(tmp_path / "any")
    write_tiny_llama(tmp_path / "letters", only_letters=True)
    any_, letters = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("any", "letters"))

    assert len(any_) == len(letters)
    assert any_ != letters
