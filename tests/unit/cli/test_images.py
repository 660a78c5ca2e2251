import json

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
    wanted = {image for row in rows for image in row.images.values()}
    lines = images().splitlines()
    assert (set(lines), len(lines)) == (wanted, len(wanted))


def test_narrows_to_what_a_cluster_uses() -> None:
    lines = images("--engine", "tgi", "--variant", "cuda", "--default-versions").splitlines()
    assert lines == ["ghcr.io/huggingface/text-generation-inference:3.0.1"]


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
