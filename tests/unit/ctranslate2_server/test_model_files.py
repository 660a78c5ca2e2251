import json
import shutil
from pathlib import Path

import pytest

from ctranslate2_server.errors import UnusableModel
from ctranslate2_server.model_files import model_files
from sandbox.tiny_ctranslate2 import model_bin
from sandbox.tiny_llama import CONTEXT_TOKENS


@pytest.fixture
def copy(model: Path, tmp_path: Path) -> Path:
    shutil.copytree(model, tmp_path / "copy")
    return tmp_path / "copy"


def test_what_the_files_say(model: Path) -> None:
    found = model_files(model)

    assert found.context == CONTEXT_TOKENS
    assert found.chat_template
    assert found.special_tokens == {"bos_token": "<s>", "eos_token": "</s>"}


def test_a_template_of_its_own_comes_first(copy: Path) -> None:
    (copy / "chat_template.jinja").write_text("mine")

    assert model_files(copy).chat_template == "mine"


def test_of_several_templates_the_default_is_taken(copy: Path) -> None:
    templates = [{"name": "tools", "template": "a"}, {"name": "default", "template": "b"}]
    (copy / "tokenizer_config.json").write_text(json.dumps({"chat_template": templates}))

    assert model_files(copy).chat_template == "b"


def test_all_tokens_that_end_an_answer_are_known(copy: Path) -> None:
    (copy / "generation_config.json").write_text(json.dumps({"eos_token_id": [2, 5]}))

    assert model_files(copy).end_ids == (2, 5)


def test_a_tokenizer_without_a_limit_says_no_context(copy: Path) -> None:
    (copy / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 10**30}))

    assert model_files(copy).context == 0


def test_a_translation_model_is_refused_by_its_name(copy: Path) -> None:
    (copy / "model.bin").write_bytes(model_bin({}, "TransformerSpec"))

    with pytest.raises(UnusableModel, match="TransformerSpec"):
        model_files(copy)


@pytest.mark.parametrize("content", [b"", b"GGUF", b"\x06\0\0\0\xff\xff\xff"])
def test_what_is_no_model_is_refused(copy: Path, content: bytes) -> None:
    (copy / "model.bin").write_bytes(content)

    with pytest.raises(UnusableModel, match=r"model\.bin"):
        model_files(copy)


def test_a_model_without_its_tokenizer_is_refused(copy: Path) -> None:
    (copy / "tokenizer.json").unlink()

    with pytest.raises(UnusableModel, match="--copy_files"):
        model_files(copy)
