"""A model of an Ollama registry: what its manifest and the header of its file tell."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmservice.inspection.hub_access import hub_access
from llmservice.inspection.inspecting import Inspected, Question, inspect_registry
from llmservice.models.inspection_failure import FailureReason, InspectionFailure
from llmservice.models.model_facts import ModelFacts
from llmservice.models.registry_uri import RegistryUri, registry_uri
from sandbox.tiny_model import tiny_model
from tests.local_hub.certificate import self_signed
from tests.local_registry.local_registry import LocalRegistry, local_registry

MODEL = "tiny/llama:1b"


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    return self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def registry(tls: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalRegistry]:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls[1]))
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with local_registry({MODEL: tiny_model()}, tls[0]) as running:
        yield running


async def inspected(registry: LocalRegistry, name: str = MODEL) -> Inspected:
    model = registry_uri(registry.uri(name))
    assert model is not None
    return await inspect_registry(hub_access, model, Question(seconds=20))


async def failure_of(registry: LocalRegistry, name: str = MODEL) -> InspectionFailure:
    result = (await inspected(registry, name)).result
    assert isinstance(result, InspectionFailure), result
    return result


async def test_manifest_and_header_tell_what_the_model_is(registry: LocalRegistry) -> None:
    facts = (await inspected(registry)).result
    assert isinstance(facts, ModelFacts)
    assert (facts.layers, facts.longest_context, facts.file_bytes) == (2, 4096, len(tiny_model()))
    assert len(registry.seen) == 2


async def test_a_tag_that_is_not_there_is_no_model(registry: LocalRegistry) -> None:
    assert (await failure_of(registry, "tiny/other:1b")).reason is FailureReason.REPOSITORY_UNKNOWN


@pytest.mark.parametrize("status", [401, 403])
async def test_what_needs_a_key_is_left_to_the_engine_that_has_one(registry: LocalRegistry, status: int) -> None:
    registry.answers[MODEL] = (status, "")
    assert (await failure_of(registry)).reason is FailureReason.NO_ROUTE


@pytest.mark.parametrize(
    "manifest",
    [
        "no json",
        "[]",
        '{"layers": 5}',
        '{"layers": [5, {"mediaType": "application/vnd.ollama.image.model", "digest": "../../x", "size": 1}]}',
        '{"layers": [{"mediaType": "application/vnd.ollama.image.tensor", "digest": "sha256:00", "size": 1}]}',
    ],
)
async def test_a_manifest_without_a_gguf_file_is_not_read_on(registry: LocalRegistry, manifest: str) -> None:
    registry.answers[MODEL] = (200, manifest)
    assert (await failure_of(registry)).reason is FailureReason.NOT_A_MODEL


@pytest.mark.parametrize(
    ("uri", "parts"),
    [
        ("ollama://chat", RegistryUri("registry.ollama.ai", "library/chat", "latest")),
        ("ollama://chat:7b", RegistryUri("registry.ollama.ai", "library/chat", "7b")),
        ("ollama://team/chat:7b", RegistryUri("registry.ollama.ai", "team/chat", "7b")),
        ("ollama://example.com:5000/team/chat:7b", RegistryUri("example.com:5000", "team/chat", "7b")),
        ("hf://team/chat", None),
    ],
)
def test_what_a_uri_leaves_out_is_that_of_the_public_registry(uri: str, parts: RegistryUri | None) -> None:
    assert registry_uri(uri) == parts
