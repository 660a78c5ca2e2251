"""What README shows of wrong resources is what the command prints of them."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from llmservice.cli import main

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
MISSPELLED = """\
apiVersion: llmservice.dev/v1alpha1
kind: LLMService
metadata:
  name: chat
spec:
  engine: vllm
  model:
    uri: hf://Qwen/Qwen3-32B
  quantizaton: fp8
  gpu:
    type: L4
  maxModelLen: 32k
"""
TOO_LARGE = MISSPELLED.replace("  quantizaton: fp8\n", "").replace("32k", "32768")


@pytest.mark.parametrize(("file", "text"), [("chat.yaml", MISSPELLED), ("bigger.yaml", TOO_LARGE)])
def test_what_is_wrong_is_told_as_the_readme_shows(
    file: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(file).write_text(text, "utf-8")
    done = CliRunner().invoke(main, ["validate", file])
    assert done.exit_code == 1
    assert f"$ llmservice validate {file}\n{done.stdout}" in README
