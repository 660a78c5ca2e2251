"""Bad input: refused by the API server with the field's name, or Stalled with a reason; never a traceback."""

from typing import Any

import pytest

from tests.cluster.kube import Kube, Rejected
from tests.cluster.services import a_tiny_service

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"engine": "exllama"}, ("spec.engine", "llamacpp")),
        ({"engine": "LlamaCpp"}, ("spec.engine", "llamacpp")),
        ({"maxNumSeqs": -1}, ("spec.maxNumSeqs", "greater than or equal to 1")),
        ({"maxModelLen": 10**12}, ("spec.maxModelLen", "less than or equal to")),
        ({"replicas": 10**9}, ("spec.replicas", "less than or equal to")),
        ({"gpu": {"count": -1}}, ("spec.gpu.count", "greater than or equal to 0")),
        ({"gpu": {"count": 1}}, ("spec.gpu", "resourceName")),
        ({"gpu": None}, ("spec.gpu", "count: 0")),
        ({"engineOptions": {"image": "registry.example/mine:1"}}, ("spec.engineOptions", "version")),
        ({"model": {"uri": "ftp://x"}}, ("spec.model.uri", "hf://")),
        ({"modle": {}}, ("modle",)),
    ],
)
def test_the_api_server_refuses_and_names_the_field(quiet: Kube, spec: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(Rejected) as refused:
        quiet.create(a_tiny_service(**spec))
    assert refused.value.status in {400, 422}
    assert all(word in str(refused.value) for word in words), str(refused.value)


@pytest.mark.parametrize("name", ["qwen2.5-7b", "7b-chat", "a" * 51])
def test_a_name_that_no_service_can_have_is_refused_at_its_field(quiet: Kube, name: str) -> None:
    with pytest.raises(Rejected, match=r"metadata\.name"):
        quiet.create(a_tiny_service(name))


@pytest.mark.parametrize(
    ("spec", "reason", "words"),
    [
        ({"gpu": {"type": "L40x"}}, "UnknownAccelerator", "L40"),
        ({"gpu": {"type": "A100"}}, "AmbiguousAccelerator", "A100-80GB"),
        ({"quantization": "q4_k_m"}, "QuantizationMisspelled", "Q4_K_M"),
        ({"engineOptions": {"version": "b1"}}, "UnknownVersion", "spec.engineOptions.version"),
        ({"model": {"uri": "s3://bucket/model"}}, "UnsupportedModelSource", "spec.model.uri"),
        ({"model": {"uri": "pvc://models/tiny.gguf", "trustRemoteCode": True}}, "UnsupportedField", "trustRemoteCode"),
        ({"engineOptions": {"args": ["--ctx-size=1"]}}, "OwnedArgument", "spec.maxModelLen"),
        ({"engineOptions": {"args": ["--ctx_size", "1"]}}, "OwnedArgument", "args[0]"),
        ({"engineOptions": {"args": ["-c", "1"]}}, "OwnedArgument", "args[0]"),
        ({"engineOptions": {"env": [{"name": "LLAMA_ARG_CTX_SIZE", "value": "1"}]}}, "OwnedArgument", "env[0]"),
    ],
)
def test_what_needs_the_catalogue_is_stalled_with_a_reason(
    kube: Kube, spec: dict[str, Any], reason: str, words: str
) -> None:
    kube.create(a_tiny_service(**spec))
    stalled = kube.wait_reason("chat", reason, "Stalled")
    assert stalled["status"] == "True"
    assert words in stalled["message"]
    assert kube.get("Deployment", "chat") is None
