"""GGUF names: the quantization they state, and the one file a resource means."""

import pytest

from llmservice.engines.engine import ModelSource
from llmservice.engines.gguf import is_tag, one_file, quantization_in, whole_name
from llmservice.errors import InvalidSpec

KNOWN = ("Q4_K_M", "Q8_0", "UD-Q4_K_XL", "F16")


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("acme/Chat-7B-Q8_0-GGUF", "Q8_0"),
        ("chat-7b-q4_k_m.gguf", "Q4_K_M"),
        ("chat.Q4_K_M.gguf", "Q4_K_M"),
        ("Chat-UD-Q4_K_XL-00001-of-00002.gguf", "UD-Q4_K_XL"),
        ("Q4_K_M/chat-00001-of-00002.gguf", "Q4_K_M"),
        ("chat-f16.gguf", "F16"),
        ("acme/Chat-7B-GGUF", ""),
        ("acme/Q4_K_Mystery", ""),
        ("Chat-Q4_K_XL.gguf", ""),
    ],
)
def test_a_name_states_its_quantization_as_published(name: str, stated: str) -> None:
    assert quantization_in(name, KNOWN) == stated


@pytest.mark.parametrize(
    "name", ["UD-IQ4_XS", "Q4_K_XL", "i1-Q3_K_S", "Q4_0_4_4", "IQ3_KS", "MXFP4_MOE", "NVFP4", "BF16", "TQ2_0", "Q8_K_P"]
)
def test_a_published_name_has_the_form_of_a_tag(name: str) -> None:
    assert is_tag(name)


@pytest.mark.parametrize(
    "name", ["awq", "fp8", "q4_k_m", "Q4KM", "Q4-K-M", "Q4_K_Mystery", "Q9_0", "4bit", "", "main", "Q4_K_M.gguf"]
)
def test_what_no_publisher_writes_has_not(name: str) -> None:
    assert not is_tag(name)


@pytest.mark.parametrize(
    ("path", "file", "found"),
    [
        ("/models/chat.gguf", "", "/models/chat.gguf"),
        ("/models/chat", "q8/chat-00001-of-00002.gguf", "/models/chat/q8/chat-00001-of-00002.gguf"),
    ],
)
def test_the_file_is_named_by_the_uri_or_beside_it(path: str, file: str, found: str) -> None:
    assert one_file(ModelSource(scheme="pvc", path=path, file=file)) == found


@pytest.mark.parametrize(
    ("path", "file", "reason", "names"),
    [
        ("/models/chat", "", "InvalidSpec", "/models/chat"),
        ("/models/chat.gguf", "other.gguf", "InvalidSpec", "spec.model.uri"),
        ("/models/chat", "*.gguf", "UnsupportedField", "*.gguf"),
    ],
)
def test_anything_but_one_file_is_refused_at_its_field(path: str, file: str, reason: str, names: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        one_file(ModelSource(scheme="pvc", path=path, file=file))
    assert (caught.value.field, caught.value.reason) == ("spec.model.file", reason)
    assert names in caught.value.message


def test_a_whole_name_stays_as_it_is() -> None:
    assert whole_name("chat-Q8_0.gguf") == "chat-Q8_0.gguf"
