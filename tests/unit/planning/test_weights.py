"""Where weights come from, and what is mounted for them."""

import pytest

from llmservice.api.v1alpha1.model import Model
from llmservice.engines.engine import ModelSource
from llmservice.engines.llamacpp.engine import ENGINE as LLAMACPP
from llmservice.planning.weights import choose_source
from tests.unit.planning.planned import HUB, planned, refused


@pytest.mark.parametrize(
    ("model", "source"),
    [
        ({"uri": "hf://acme/chat"}, ModelSource(scheme="hf", repository="acme/chat")),
        ({"uri": "acme/chat"}, ModelSource(scheme="hf", repository="acme/chat")),
        ({"uri": "pvc://claim"}, ModelSource(scheme="pvc", claim="claim", path="/models")),
        ({"uri": "pvc://claim/a/b.gguf"}, ModelSource(scheme="pvc", claim="claim", path="/models/a/b.gguf")),
        ({"uri": "hf://acme/chat", "file": "x.gguf"}, ModelSource(scheme="hf", repository="acme/chat", file="x.gguf")),
        (
            {"uri": "pvc://claim/hub?repo=acme/chat", "revision": "v1", "file": "x.gguf"},
            ModelSource(
                scheme="hf",
                repository="acme/chat",
                claim="claim",
                hub_cache="/models/hub",
                revision="v1",
                file="x.gguf",
                offline=True,
            ),
        ),
        (
            {"uri": "pvc://claim?repo=acme/chat"},
            ModelSource(scheme="hf", repository="acme/chat", claim="claim", hub_cache="/models", offline=True),
        ),
        (
            {"uri": "oci://host:5000/a/b:1@sha256:0a?path=c/d", "file": "x.gguf"},
            ModelSource(scheme="oci", image="host:5000/a/b:1@sha256:0a", path="/models/c/d", file="x.gguf"),
        ),
    ],
)
def test_a_uri_is_a_source(model: dict[str, str], source: ModelSource) -> None:
    assert choose_source(Model(**model), LLAMACPP) == source


def test_a_claim_is_mounted_read_only_so_that_replicas_can_share_it() -> None:
    mount = planned(spec__model__uri="pvc://claim/a/b.gguf").pod.mounts[0]
    assert (mount.path, mount.read_only) == ("/models", True)
    assert mount.source == {"persistentVolumeClaim": {"claimName": "claim", "readOnly": True}}


def test_nothing_is_mounted_for_a_model_from_the_hub() -> None:
    assert [mount.path for mount in planned(**HUB).pod.mounts] == ["/cache"]


def test_a_source_the_engine_cannot_load_is_refused_with_those_it_can() -> None:
    error = refused(spec__model__uri="s3://bucket/path")
    assert error.reason == "UnsupportedModelSource"
    assert str(error).startswith("spec.model.uri: llamacpp ")
    assert [scheme in str(error) for scheme in ("s3://", "hf://", "pvc://", "gs://")] == [True, True, True, False]
    assert "spec.model.cache" in str(error)


def test_an_image_is_mounted_as_it_is_written_with_the_pull_secrets_of_the_pod() -> None:
    plan = planned(
        spec__model={"uri": "oci://host/a:1", "file": "x.gguf"}, spec__pod__imagePullSecrets=[{"name": "registry"}]
    )
    mount = plan.pod.mounts[0]
    assert mount.source == {"image": {"reference": "host/a:1", "pullPolicy": "IfNotPresent"}}
    assert (mount.path, mount.read_only) == ("/models", True)
    assert "/models/x.gguf" in plan.container.args
    assert any("ImageVolume" in note for note in plan.notes)
    assert plan.pod.passthrough["imagePullSecrets"] == [{"name": "registry"}]


@pytest.mark.parametrize(("engine", "variable"), [("vllm", "HF_HUB_CACHE"), ("llamacpp", "LLAMA_CACHE")])
def test_a_repository_on_a_claim_is_loaded_by_its_name_without_a_hub(engine: str, variable: str) -> None:
    plan = planned(
        spec__engine=engine,
        spec__model={"uri": "pvc://claim/hub?repo=acme/chat", "tokenSecretRef": {"name": "hub", "key": "token"}},
    )
    environment = {each["name"]: each.get("value") for each in plan.container.environment}
    assert "acme/chat" in plan.container.args
    assert environment[variable] == "/models/hub"
    assert {"HF_TOKEN", "HF_ENDPOINT"}.isdisjoint(environment)
    assert {"HF_HUB_OFFLINE": "1", "LLAMA_ARG_OFFLINE": "1"}.items() & environment.items()


def test_an_engine_that_finds_no_repository_on_a_claim_is_told_its_folder() -> None:
    error = refused(spec__engine="tgi", spec__gpu={"type": "L4"}, spec__model__uri="pvc://claim/hub?repo=acme/chat")
    assert error.reason == "UnsupportedModelSource"
    assert "pvc://claim/hub/models--acme--chat/snapshots/" in str(error)
