"""The page on capacity planning: its commands are run, and its answers are those of the commands."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from llmservice.cli import main
from tests.site.test_commands import words_of

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "capacity-planning.md").read_text("utf-8")


def block_of(language: str) -> str:
    """The only block of the page in a language."""
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(block)


def answered() -> Iterator[tuple[str, str]]:
    """Each command of the page, and what the page says it prints."""
    for block in re.findall(r"^```console\n\$ llmservice (.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        command, _, answer = block.partition("\n")
        yield command, answer


COMMANDS = list(answered())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the reader of the page has saved: the trace, and the resource."""
    folder = tmp_path_factory.mktemp("capacity")
    (folder / "load.py").write_text(block_of("python"), "utf-8")
    (folder / "chat.yaml").write_text(block_of("yaml"), "utf-8")
    made = subprocess.run([sys.executable, "load.py"], cwd=folder, capture_output=True, text=True, check=True)
    (folder / "load.csv").write_text(made.stdout, "utf-8")
    return folder


def test_the_page_has_commands_and_answers() -> None:
    assert len(COMMANDS) == 6
    assert all(answer.strip() for _, answer in COMMANDS)


@pytest.mark.parametrize(("command", "answer"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_answers_what_the_page_says(
    command: str, answer: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(main, words_of(command))
    assert done.exit_code == 0, done.output
    assert done.output.startswith(answer), done.output
