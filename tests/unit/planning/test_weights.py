"""Where weights come from, and what is mounted for them."""

import pytest

from llmservice.api.v1alpha1.model import Model
from llmservice.engines.engine import ModelSource
from llmservice.engines.llamacpp.engine import LLAMACPP
from llmservice.planning.weights import choose_source
from tests.unit.planning.planned import HUB, planned, refused


@pytest.mark.parametrize(
    ("model", "source"),
    [
        ({"uri": "hf://acme/chat"}, ModelSource(scheme="hf", repository="acme/chat")),
        ({"uri": "acme/chat"}, ModelSource(scheme="hf", repository="acme/chat")),
        ({"uri": "pvc://claim/a/b.gguf"}, ModelSource(scheme="pvc", path="/models/a/b.gguf")),
        ({"uri": "hf://acme/chat", "file": "x.gguf"}, ModelSource(scheme="hf", repository="acme/chat", file="x.gguf")),
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
