"""`llmservice inspect`: facts for people and programs, named failures, and the file that a Job leaves."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from llmservice.cli.inspect import command
from llmservice.models.inspection_answer import MOST_BYTES, facts_in
from llmservice.models.inspection_failure import FailureReason, InspectionFailure
from llmservice.models.model_facts import ModelFacts
from sandbox.tiny_model import tiny_model
from tests.local_hub.local_hub import LocalHub, local_hub
from tests.local_hub.repository import COMMIT, Repository
from tests.unit.models import configs

TOKEN = "hf_of-nobody"  # noqa: S105  (no secret)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LocalHub]:
    for name in ("HF_TOKEN", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    config = json.dumps(configs.DEEPSEEK_V3).encode()
    weights = {f"model-0000{number}-of-00002.safetensors": b"" for number in (1, 2)}
    repositories = {
        "deepseek/v3": Repository(
            files={"config.json": config, **weights}, sizes=dict.fromkeys(weights, 344_000_000_000)
        ),
        "meta/gated": Repository(files={"config.json": config}, gated="manual", token=TOKEN),
        "tiny/gguf": Repository(files={"tiny.gguf": tiny_model(), "other.gguf": b""}),
    }
    with local_hub(repositories) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments])


def test_json_holds_the_facts_by_their_names(hub: LocalHub) -> None:
    assert hub.url
    result = run("hf://deepseek/v3", "-o", "json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert (answer["model"], answer["revision"]) == ("hf://deepseek/v3", COMMIT)
    assert answer["facts"]["latent"] == {
        "rank": 512, "ropeSize": 64, "queryRank": 1536, "nopeSize": 128, "valueSize": 128,
    }  # fmt: skip
    assert answer["facts"]["fileBytes"] == 688_000_000_000
    assert yaml.safe_load(run("deepseek/v3", "-o", "yaml").stdout)["facts"] == answer["facts"]


def test_text_has_a_line_for_each_fact(hub: LocalHub) -> None:
    assert hub.url
    lines = [line.split() for line in run("deepseek/v3").stdout.splitlines()]
    assert ["longestContext", "163,840"] in lines
    assert ["experts.denseLayers", "3"] in lines
    assert ["gated", "False"] in lines


def test_a_named_failure_is_exit_code_1_with_its_remedy(hub: LocalHub) -> None:
    assert hub.url
    result = run("meta/gated", "-o", "json")
    assert result.exit_code == 1
    assert result.stderr.startswith("llmservice: Gated: ")
    assert "tokenSecretRef" in result.stderr
    assert json.loads(result.stdout)["failure"]["reason"] == "Gated"
    assert run("meta/gated").stdout == ""


def test_a_job_that_has_an_answer_has_not_failed(hub: LocalHub, tmp_path: Path) -> None:
    """Else whoever watches Jobs is called for a licence that somebody has not accepted."""
    assert hub.url
    log = tmp_path / "termination-log"
    assert run("meta/gated", "--termination-log", log).exit_code == 0
    found = facts_in(log.read_text())
    assert isinstance(found, InspectionFailure)
    assert found.reason is FailureReason.GATED


def test_the_termination_log_holds_what_the_operator_reads(hub: LocalHub, tmp_path: Path) -> None:
    assert hub.url
    log = tmp_path / "termination-log"
    assert run("tiny/gguf", "--file", "tiny.gguf", "--termination-log", log).exit_code == 0
    assert log.stat().st_size <= MOST_BYTES
    facts = facts_in(log.read_text())
    assert isinstance(facts, ModelFacts)
    assert facts.parameters == 113_856
    unwritable = run("tiny/gguf", "--file", "tiny.gguf", "--termination-log", tmp_path / "no" / "log")
    assert (unwritable.exit_code, "--termination-log" in unwritable.stderr) == (1, True)


def test_a_claim_is_looked_at_where_it_is_mounted(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tiny.gguf").write_bytes(tiny_model())
    for uri in ("pvc://weights/models/tiny.gguf", "pvc://weights/models"):
        assert run(uri, "--root", tmp_path).exit_code == 0
    missing = run("pvc://weights/other", "--root", tmp_path)
    assert (missing.exit_code, "FileMissing" in missing.stderr) == (1, True)


def test_a_repository_in_a_cache_of_the_hub_on_a_claim_is_looked_at_by_its_name(tmp_path: Path) -> None:
    folder, commit = tmp_path / "hub" / "models--tiny--gguf", "0a" * 20
    (folder / "snapshots" / commit).mkdir(parents=True)
    (folder / "blobs").mkdir()
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(commit)
    (folder / "blobs" / "b").write_bytes(tiny_model())
    for name in ("tiny-Q4_K_M.gguf", "tiny-Q8_0.gguf"):
        (folder / "snapshots" / commit / name).symlink_to("../../blobs/b")
    uri = "pvc://weights/hub?repo=tiny/gguf"
    found = run(uri, "--root", tmp_path, "--quantization", "Q8_0", "--output", "json")
    assert (found.exit_code, json.loads(found.stdout)["revision"]) == (0, commit)
    missing = run(uri, "--root", tmp_path, "--revision", "other")
    assert (missing.exit_code, "RevisionUnknown" in missing.stderr) == (1, True)


def test_a_path_needs_no_hub(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(tiny_model())
    assert "113,856" in run(tmp_path).stdout
    assert run(tmp_path / "tiny.gguf").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("name",), "MODEL"),
        (("s3://bucket/path",), "MODEL"),
        (("oci://host/image:1",), "MODEL"),
        (("az://container/path",), "MODEL"),
        (("ftp://host/path",), "MODEL"),
        (("hf://a/b/c",), "MODEL"),
        (("a/b", "--revision", "no spaces"), "--revision"),
        (("a/b", "--file", "../secret.gguf"), "MODEL"),
        (("pvc://claim/a/../../etc",), "MODEL"),
        (("pvc://claim/path", "--revision", "main"), "MODEL"),
        (("/a/model", "--revision", "main"), "--revision"),
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: tuple[str, ...], field: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert field in result.stderr


def test_every_reason_of_a_failure_is_explained() -> None:
    page = (Path(__file__).parents[3] / "docs/how-to/inspect.md").read_text("utf-8")
    assert [reason for reason in FailureReason if f"| `{reason}` |" not in page] == []


def test_a_process_of_its_own_asks_a_hub(hub: LocalHub) -> None:
    begin = time.monotonic()
    result = subprocess.run(
        [sys.executable, "-m", "llmservice", "inspect", "deepseek/v3", "-o", "json"],
        capture_output=True,
        check=True,
        timeout=60,
    )
    seconds = time.monotonic() - begin
    print(f"inspection of a local hub, with the start of the process: {seconds:.2f} s")  # noqa: T201  (a figure)
    assert json.loads(result.stdout)["facts"]["layers"] == 61
    assert len(hub.seen) == 2
