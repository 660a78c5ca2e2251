"""`llmservice cache prefetch`: what it prints for a cluster, and what it refuses."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from llmservice.cli.cache import command
from tests.builders import an_llmservice

_MODEL = {"uri": "hf://acme/chat", "file": "chat.gguf", "cache": {"claim": {"size": "9Gi"}}}

_TOO_SMALL = {
    **_MODEL,
    "cache": {"claim": {"size": "9Gi", "accessModes": ["ReadWriteOnce"]}},
    "facts": {"fileBytes": 10 * 2**30},
}


def run(tmp_path: Path, *arguments: str, **changes: object) -> Result:
    file = tmp_path / "chat.yaml"
    file.write_text(yaml.safe_dump(an_llmservice(**changes)))
    return CliRunner().invoke(command, ["prefetch", str(file), *arguments], env={"LLMSERVICE_DOWNLOAD_IMAGE": ""})


def test_prints_the_claim_and_the_job_that_the_operator_would_make(tmp_path: Path) -> None:
    found = run(tmp_path, "--image", "registry.example/operator:1", "-o", "yaml", spec__model=_MODEL)
    claim, job = yaml.safe_load_all(found.stdout)
    assert (claim["kind"], claim["metadata"]["name"]) == ("PersistentVolumeClaim", "chat-weights")
    assert claim["spec"]["resources"]["requests"]["storage"] == "9Gi"
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert (job["kind"], container["image"]) == ("Job", "registry.example/operator:1")
    assert container["args"][-1] == "hf://acme/chat"


def test_for_a_claim_that_exists_only_the_job_is_made(tmp_path: Path) -> None:
    model = {**_MODEL, "cache": {"claim": {"name": "weights"}}}
    found = run(tmp_path, "--image", "registry.example/operator:1", "-o", "yaml", spec__model=model)
    assert [each["kind"] for each in yaml.safe_load_all(found.stdout)] == ["Job"]


def test_a_service_without_a_cache_is_skipped(tmp_path: Path) -> None:
    found = run(tmp_path, "--image", "registry.example/operator:1", "-o", "yaml")
    assert (found.exit_code, found.stdout) == (0, "")
    assert "spec.model.cache" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "model", "named"),
    [
        ((), _MODEL, "--image"),
        (("--image", "a/b:1"), {**_MODEL, "cache": {"claim": {}}}, "spec.model.cache.claim.size"),
        (("--image", "a/b:1"), _TOO_SMALL, "chat-weights"),
    ],
)
def test_what_cannot_be_downloaded_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], model: dict[str, object], named: str
) -> None:
    found = run(tmp_path, *arguments, "-o", "yaml", spec__model=model)
    assert (found.exit_code, named in found.stderr, found.stdout) == (1, True, "")
