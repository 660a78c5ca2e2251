"""Which files an engine loads, and how many weights are in them."""

import json

import pytest

from llmservice.models.plausible import MalformedModel
from llmservice.models.safetensors_header import header_length, parameters_in, values_by_type
from llmservice.models.weight_files import gguf_models, indexed_files, loaded_weights, needs_index, parts_of

SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
INDEX = "model.safetensors.index.json"


def sizes(*names: str) -> dict[str, int]:
    return dict.fromkeys(names, 10)


def test_copies_in_other_formats_and_folders_are_not_loaded() -> None:
    there = sizes(
        *SHARDS,
        *("original/model.safetensors", "metal/model.bin", "consolidated.safetensors", "onnx/model.onnx"),
        *("pytorch_model.bin", "adapter_model.safetensors", "config.json", INDEX),
    )
    assert loaded_weights(there) == SHARDS
    assert not needs_index(there)


def test_mistrals_own_format_and_pickles_are_loaded_where_nothing_else_is() -> None:
    assert loaded_weights(sizes("consolidated.safetensors", "params.json")) == ("consolidated.safetensors",)
    pickles = sizes("pytorch_model-00001-of-00001.bin", "training_args.bin", "optimizer.bin")
    assert loaded_weights(pickles) == ("pytorch_model-00001-of-00001.bin",)
    assert loaded_weights(sizes("README.md")) == ()


def test_the_index_tells_which_of_two_sets_is_the_model() -> None:
    there = sizes(*SHARDS, "model.safetensors", INDEX)
    assert needs_index(there)
    index = json.dumps({"metadata": {"total_size": 1}, "weight_map": {"a": SHARDS[0], "b": SHARDS[1], "c": 7}})
    assert loaded_weights(there, indexed_files(index.encode())) == SHARDS
    assert loaded_weights(there, indexed_files(b"{}")) == (*SHARDS, "model.safetensors")


def test_a_split_file_has_its_parts_and_no_others() -> None:
    there = sizes("q/a-00001-of-00002.gguf", "q/a-00002-of-00002.gguf", "q/a-00001-of-00003.gguf", "b.gguf")
    assert parts_of("q/a-00002-of-00002.gguf", there) == ("q/a-00001-of-00002.gguf", "q/a-00002-of-00002.gguf")
    assert parts_of("b.gguf", there) == ("b.gguf",)


def test_a_projector_is_no_model() -> None:
    there = sizes(
        "a-Q4_K_M.gguf", "mmproj-F16.gguf", "a.imatrix.gguf", "b-00001-of-00002.gguf", "b-00002-of-00002.gguf"
    )
    assert gguf_models(there) == ("a-Q4_K_M.gguf", "b-00001-of-00002.gguf")


def test_thousands_of_split_files_are_put_together_in_one_pass() -> None:
    there = sizes(*(f"m{model}-0000{part}-of-00004.gguf" for model in range(2000) for part in range(1, 5)))
    assert len(gguf_models(there)) == 2000


def test_weights_are_counted_by_the_shapes_of_the_tensors() -> None:
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "BF16", "shape": [1024, 4096], "data_offsets": [0, 1]},
        "b": {"dtype": "F32", "shape": [], "data_offsets": [1, 2]},
    }
    values = values_by_type(json.dumps(header).encode())
    assert values == {"BF16": 1024 * 4096, "F32": 1}
    assert parameters_in(values) == 1024 * 4096 + 1


@pytest.mark.parametrize("values", [{}, {"I32": 5, "BF16": 3}, {"BF16": -1}, {"BF16": 2**60}, {"U8": 3}])
def test_packed_or_impossible_values_are_not_counted(values: dict[str, int]) -> None:
    assert parameters_in(values) == 0


@pytest.mark.parametrize("shape", ["x", None, [-1], [1] * 9, [2**40, 2**40], ["1"], [2**63]])
def test_a_shape_that_no_tensor_has_is_refused(shape: object) -> None:
    with pytest.raises(MalformedModel, match="tensor"):
        values_by_type(json.dumps({"a": {"dtype": "BF16", "shape": shape}}).encode())


@pytest.mark.parametrize("beginning", [b"", b"\0" * 8, b"\xff" * 8, (2**30).to_bytes(8, "little"), b"\1\0\0"])
def test_a_header_of_an_impossible_length_is_refused(beginning: bytes) -> None:
    with pytest.raises(MalformedModel, match="safetensors header"):
        header_length(beginning)
