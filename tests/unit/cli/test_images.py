import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from llmservice.catalog.loader import load_catalogue
from llmservice.cli.images import command


def images(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_lists_every_image_of_the_catalogue_once() -> None:
    rows = [row for engine in load_catalogue().engines.values() for row in engine.versions.values()]
    wanted = {image for row in rows for image in row.images.values()} | {load_catalogue().proxy_image}
    lines = images().splitlines()
    assert (set(lines), len(lines)) == (wanted, len(wanted))


def test_narrows_to_what_a_cluster_uses() -> None:
    lines = images("--engine", "tgi", "--variant", "cuda", "--default-versions").splitlines()
    assert lines == ["ghcr.io/huggingface/text-generation-inference:3.1.0"]


def test_the_proxy_goes_with_every_variant_and_may_be_asked_for_alone() -> None:
    proxy = load_catalogue().proxy_image
    assert proxy in images("--variant", "cuda", "--default-versions").splitlines()
    assert images("--engine", "proxy").splitlines() == [proxy]


def test_a_mirror_shows_where_from_and_where_to() -> None:
    arguments = ("--engine=vllm", "--variant=rocm", "--default-versions", "--mirror=docker.io=registry.example/hub")
    source, image = images(*arguments).split()
    assert source == "docker.io/vllm/vllm-openai-rocm:v0.33.0"
    assert image == "registry.example/hub/vllm/vllm-openai-rocm:v0.33.0"


def test_json_and_yaml_say_the_same() -> None:
    as_json = json.loads(images("-o", "json", "--engine", "vllm"))
    assert as_json == yaml.safe_load(images("-o", "yaml", "--engine", "vllm"))["images"]
    assert {image["default"] for image in as_json if image["version"] == "0.33.0"} == {True}


def test_a_mirror_without_a_target_is_wrong_usage() -> None:
    result = CliRunner().invoke(command, ["--mirror", "docker.io"])
    assert (result.exit_code, "write PREFIX=PREFIX" in result.output) == (2, True)


def test_mirrors_come_from_the_operators_setting_unless_options_name_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLMSERVICE_IMAGE_MIRRORS", "docker.io=registry.example/hub")
    usual = ("--engine=vllm", "--variant=rocm", "--default-versions")
    assert images(*usual).split()[1] == "registry.example/hub/vllm/vllm-openai-rocm:v0.33.0"
    assert images(*usual, "--mirror=docker.io=other.example").split()[1].startswith("other.example/vllm/")


OVERLAY = """
apiVersion: v1
kind: ConfigMap
metadata: {name: llmservice-catalogue}
data:
  engines.yaml: |
    vllm:
      default: "9.0"
      versions:
        "9.0": {images: {cuda: "registry.example/vllm:v9"}, user: 1, group: 1, max_model_len: 1, max_num_seqs: 1}
"""


def test_the_clusters_own_rows_are_listed_too(tmp_path: Path) -> None:
    (tmp_path / "overlay.yaml").write_text(OVERLAY)
    found = images("--engine=vllm", "--default-versions", "--catalogue", str(tmp_path / "overlay.yaml"))
    assert found.split() == ["registry.example/vllm:v9"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (OVERLAY.replace("user: 1", "usr: 1"), "engines.yaml: vllm: 9.0: "),
        ("kind: Secret", "0 ConfigMaps"),
        ("a: [", "while parsing"),
        (OVERLAY.replace("engines.yaml: |", "engines.yaml:"), "engines.yaml: "),
        ("kind: ConfigMap\ndata: 3", "data: "),
        ("kind: ConfigMap\ndata: !!int x", "'x'"),
        ("kind: \udcff", "UTF-8"),
    ],
)
def test_a_broken_overlay_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "overlay.yaml").write_text(text, "utf-8", "surrogateescape")
    result = CliRunner().invoke(command, ["--catalogue", str(tmp_path / "overlay.yaml")])
    assert (result.exit_code, complaint in result.output) == (2, True), result.output
