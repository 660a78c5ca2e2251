"""`llmservice download`: what it takes, what it answers, how it exits."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from llmservice.cli import main
from llmservice.models.download_answer import DownloadedModel, result_in
from llmservice.models.download_failure import DownloadFailure, DownloadFailureReason
from tests.local_hub.local_hub import local_hub
from tests.local_hub.repository import COMMIT, Repository


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["download", *arguments])


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["ftp://host/model"], "URI"),
        (["pvc://claim/model"], "URI"),
        (["hf://owner"], "URI"),
        (["hf://owner/name/more"], "URI"),
        (["s3://bucket/../other"], "URI"),
        (["s3:///folder"], "URI"),
        (["s3://bucket/folder", "--revision", "main"], "--revision"),
        (["owner/name", "--revision", "../main"], "--revision"),
        (["owner/name", "--revision", "main/"], "--revision"),
        ([f"{'o' * 150}/{'n' * 150}"], "URI"),
        (["owner/name", "--file", "../x.gguf"], "--file"),
        (["owner/name", "--file", "/x.gguf"], "--file"),
        (["owner/name", "--format", "pickle"], "--format"),
        (["owner/name", "--parallel", "0"], "--parallel"),
        (["owner/name", "--bandwidth", "-1"], "--bandwidth"),
    ],
)
def test_what_cannot_be_downloaded_is_wrong_usage(tmp_path: Path, arguments: list[str], named: str) -> None:
    result = run(*arguments, "--root", str(tmp_path))
    assert result.exit_code == 2
    assert named in result.stderr
    assert not list(tmp_path.iterdir())


def test_an_answer_is_printed_and_written_for_the_kubelet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, root = tmp_path / "log", tmp_path / "claim"
    root.mkdir()
    with local_hub({"o/n": Repository(files={"a.gguf": b"GGUF" * 100})}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        result = run("o/n", "--format", "gguf", "--root", str(root), "--termination-log", str(log))
        assert result.exit_code == 0, result.output
        answer = result_in(log.read_text())
        assert isinstance(answer, DownloadedModel)
        assert answer.path == f"huggingface/hub/models--o--n/snapshots/{COMMIT}/a.gguf"
        assert json.loads(result.stdout) == json.loads(log.read_text())


def test_a_model_without_a_scheme_is_found_by_who_asks_with_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An LLMService asks with one, where there may be no hub."""
    with local_hub({"o/n": Repository(files={"a.gguf": b"GGUF" * 100})}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        assert run("o/n", "--format", "gguf", "--root", str(tmp_path)).exit_code == 0
        hub.repositories.clear()
        assert run("hf://o/n", "--format", "gguf", "--root", str(tmp_path)).exit_code == 0


def test_a_failure_is_an_answer_for_a_job_and_an_error_for_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    with local_hub({}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        alone = run("o/n", "--root", str(tmp_path))
        assert alone.exit_code == 1
        assert DownloadFailureReason.REPOSITORY_UNKNOWN in alone.stderr
        assert run("o/n", "--root", str(tmp_path), "--termination-log", str(log)).exit_code == 0
    answer = result_in(log.read_text())
    assert isinstance(answer, DownloadFailure)
    assert answer.reason is DownloadFailureReason.REPOSITORY_UNKNOWN


def test_the_clients_of_a_download_are_imported_by_nothing_before_it() -> None:
    asked = (
        "import sys, llmservice.cli.download; print([name for name in ('hf_xet', 'obstore') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "[]\n"
