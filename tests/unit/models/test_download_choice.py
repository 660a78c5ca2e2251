"""Which files of a model are downloaded, and which names are taken at all."""

import pytest

from llmservice.models.download_choice import chosen_files, is_safe_name
from llmservice.models.gguf_choice import NoSuchGguf

CONFIG = ("config.json", "tokenizer.json")


def chosen(*names: str, wanted: str = "safetensors", **more: str) -> set[str]:
    return set(chosen_files(dict.fromkeys(names, 1), wanted, **more))


def test_safetensors_are_taken_and_no_copy_of_them() -> None:
    copies = ("pytorch_model.bin", "consolidated.safetensors", "original/a.pth", "onnx/model.onnx", "m-Q8_0.gguf")
    assert chosen("model.safetensors", *CONFIG, *copies, "README.md", "a.png") == {"model.safetensors", *CONFIG}


def test_a_model_that_is_there_in_one_format_alone_is_taken_in_it() -> None:
    assert chosen("pytorch_model.bin", "pytorch_model.bin.index.json") == {
        "pytorch_model.bin",
        "pytorch_model.bin.index.json",
    }
    assert chosen("consolidated.safetensors", "params.json", "tekken.json") == {
        "consolidated.safetensors",
        "params.json",
        "tekken.json",
    }


def test_what_belongs_to_a_model_beside_its_weights_is_taken() -> None:
    belongs = {
        *(
            "tokenizer.model",
            "tokenizer.model.v3",
            "chat_template.jinja",
            "modeling_x.py",
            "merges.txt",
            "qwen.tiktoken",
        ),
        *("modules.json", "1_Pooling/config.json", "2_Dense/model.safetensors", "additional_chat_templates/tool.jinja"),
    }
    assert chosen("model.safetensors", *belongs, "1_Pooling/pytorch_model.bin", "assets/a.json") == {
        "model.safetensors",
        *belongs,
    }


def test_weights_come_first() -> None:
    assert chosen_files({"a.json": 1, "model.safetensors": 9}, "safetensors")[0] == "model.safetensors"


def test_nothing_is_taken_where_there_are_no_weights() -> None:
    assert not chosen("config.json", "README.md", "m.gguf")


def test_a_projector_is_no_model() -> None:
    assert chosen("m-Q4_K_M.gguf", "mmproj-F16.gguf", wanted="gguf") == {"m-Q4_K_M.gguf"}


def test_a_quantization_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(NoSuchGguf, match="m-Q8_0"):
        chosen("m-Q8_0.gguf", "m-Q6_K.gguf", wanted="gguf", quantization="Q2_K")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/a",
        "../a",
        "a/../b",
        "a//b",
        "a/",
        ".",
        "a/./b",
        "a\\b",
        "a\nb",
        "a\x00b",
        "x" * 201,
        "a/" * 300 + "b",
        None,
        3,
    ],
)
def test_a_name_that_may_leave_the_folder_is_not_taken(name: object) -> None:
    assert not is_safe_name(name)


@pytest.mark.parametrize("name", ["config.json", "1_Pooling/config.json", "..a", "a b.json", "模型.json"])
def test_an_ordinary_name_is_taken(name: str) -> None:
    assert is_safe_name(name)


def test_an_adapter_is_its_weights_and_its_config() -> None:
    both = ("adapter_config.json", "adapter_model.safetensors", "adapter_model.bin")
    assert chosen(*both, *CONFIG, wanted="adapter") == {"adapter_config.json", "adapter_model.safetensors"}
    assert chosen("adapter_config.json", "adapter_model.bin", wanted="adapter") == {
        "adapter_config.json",
        "adapter_model.bin",
    }
    assert chosen("adapter_model.safetensors", wanted="adapter") == set()
    assert chosen("model.safetensors", *CONFIG, wanted="adapter") == set()
