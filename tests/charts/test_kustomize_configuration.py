"""With the configuration that ships, kustomize reaches into LLMServices: the real kubectl over a kustomization."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.charts.rendering import ROOT, kustomized, of_kind, one
from tools.chart.__main__ import FILES

CONFIGURATION = ROOT / "manifests" / "kustomize" / "llmservice.yaml"
SERVICE = {
    "apiVersion": "llmservice.dev/v1alpha1",
    "kind": "LLMService",
    "metadata": {"name": "chat"},
    "spec": {
        "engine": "vllm",
        "replicas": 1,
        "model": {"uri": "hf://a/b", "tokenSecretRef": {"name": "hub", "key": "token"}},
        "engineOptions": {
            "image": "registry.example/vllm:1",
            "env": [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}],
            "files": [{"path": "/etc/chat.jinja", "configMapKeyRef": {"name": "template", "key": "chat.jinja"}}],
        },
        "pod": {"imagePullSecrets": [{"name": "hub"}]},
    },
}
KUSTOMIZATION = {
    "resources": ["chat.yaml"],
    "configurations": ["llmservice.yaml"],
    "secretGenerator": [{"name": "hub", "literals": ["token=t"]}],
    "configMapGenerator": [{"name": "template", "literals": ["chat.jinja=t"]}],
    "images": [{"name": "registry.example/vllm", "newTag": "2"}],
    "replicas": [{"name": "chat", "count": 3}],
}


@pytest.fixture
def built(tmp_path: Path) -> list[dict[str, Any]]:
    (tmp_path / "chat.yaml").write_text(json.dumps(SERVICE))
    (tmp_path / "llmservice.yaml").write_text(CONFIGURATION.read_text())
    (tmp_path / "kustomization.yaml").write_text(json.dumps(KUSTOMIZATION))
    return kustomized(tmp_path)


def test_generated_names_images_and_replicas_reach_the_resource(built: list[dict[str, Any]]) -> None:
    (secret,), (template,) = of_kind(built, "Secret"), of_kind(built, "ConfigMap")
    hub, chat = secret["metadata"]["name"], one(built, "LLMService")["spec"]
    assert hub.startswith("hub-")
    assert chat["model"]["tokenSecretRef"]["name"] == hub
    assert chat["engineOptions"]["env"][0]["valueFrom"]["secretKeyRef"]["name"] == hub
    assert chat["pod"]["imagePullSecrets"] == [{"name": hub}]
    assert chat["engineOptions"]["files"][0]["configMapKeyRef"]["name"] == template["metadata"]["name"]
    assert (chat["engineOptions"]["image"], chat["replicas"]) == ("registry.example/vllm:2", 3)


def test_what_is_not_there_is_not_added(tmp_path: Path) -> None:
    bare = {**SERVICE, "spec": {"engine": "vllm", "model": {"uri": "hf://a/b"}, "gpu": {"type": "L4"}}}
    (tmp_path / "chat.yaml").write_text(json.dumps(bare))
    (tmp_path / "llmservice.yaml").write_text(CONFIGURATION.read_text())
    (tmp_path / "kustomization.yaml").write_text(json.dumps({**KUSTOMIZATION, "replicas": []}))
    assert one(kustomized(tmp_path), "LLMService")["spec"] == bare["spec"]


def test_the_file_is_as_the_crd_is_now() -> None:
    assert CONFIGURATION.read_text() == FILES[CONFIGURATION]()
