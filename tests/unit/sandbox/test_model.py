from pathlib import Path

import gguf
import pytest

from sandbox.model_volume import persistent_volume, persistent_volume_claim
from sandbox.progress import Progress
from sandbox.tiny_model import FILE, tiny_model, tiny_model_build, vocabulary
from tests.unit.sandbox.builders import a_spec


@pytest.fixture
def model(tmp_path: Path) -> gguf.GGUFReader:
    return gguf.GGUFReader(tiny_model_build().ensure(tmp_path, Progress(quiet=True)) / FILE)


def test_the_model_is_a_llama_of_two_layers(model: gguf.GGUFReader) -> None:
    assert model.fields["general.architecture"].contents() == "llama"
    assert model.fields["llama.block_count"].contents() == 2
    assert len({tensor.name for tensor in model.tensors}) == 3 + 2 * 9


def test_the_model_as_bytes_is_the_same_file(tmp_path: Path) -> None:
    folder = tiny_model_build().ensure(tmp_path, Progress(quiet=True))
    assert (folder / FILE).read_bytes() == tiny_model()


def test_every_token_has_an_embedding(model: gguf.GGUFReader) -> None:
    embeddings = next(tensor for tensor in model.tensors if tensor.name == "token_embd.weight")
    assert list(embeddings.shape) == [64, len(vocabulary())]


def test_the_vocabulary_covers_every_byte() -> None:
    texts = {text for text, kind in vocabulary() if kind == gguf.TokenType.BYTE}
    assert texts == {f"<0x{value:02X}>" for value in range(256)}


def test_volume_and_claim_name_each_other() -> None:
    volume = persistent_volume(a_spec(), "models-chat-models", "chat", "models")
    claim = persistent_volume_claim("models-chat-models", "chat", "models")
    assert claim["spec"]["volumeName"] == volume["metadata"]["name"]
    reserved_for = volume["spec"]["claimRef"]
    assert (reserved_for["namespace"], reserved_for["name"]) == ("chat", "models")


def test_the_volume_shows_the_models_of_its_own_sandbox() -> None:
    volume = persistent_volume(a_spec(name="test"), "v", "chat", "models")
    assert volume["spec"]["hostPath"]["path"] == str(a_spec(name="test").models)
