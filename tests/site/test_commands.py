"""Every line of the documentation that begins with `llmservice` has verbs and options that exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from llmservice.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^ *```(?:console|bash|sh|shell)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_NAMES = ("llmservice", "kubectl-llm", "kubectl llm")


def commands_in(text: str) -> Iterator[str]:
    """What follows `llmservice` on a line of a block of commands, up to a pipe, a redirection or a comment."""
    for block in _BLOCK.finditer(text):
        for line in re.sub(r"\\\n\s*", " ", block[1]).splitlines():
            for part in re.split(r"\s(?:\||&&|;)\s|\s(?:\||&&|;)$", line.strip().removeprefix("$ ")):
                name = next((name for name in _NAMES if part.strip().startswith(f"{name} ")), None)
                if name:
                    yield part.strip().removeprefix(name).strip()


COMMANDS = [
    pytest.param(command, id=f"{page.stem}: {command}")
    for page in PAGES
    for command in dict.fromkeys(commands_in(page.read_text("utf-8")))
]


def words_of(command: str) -> list[str]:
    """The words that the program gets: without comments, redirections, and what asks it to run beside others."""
    command = re.sub(r"\s+(?:2?>{1,2}|<)\s*\S+", "", re.sub(r"\s#\s.*$", "", command))
    return shlex.split(command.removesuffix("&"))


def test_the_documentation_has_commands() -> None:
    assert len(COMMANDS) > 30


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_documentation_exists(command: str) -> None:
    verb: click.Command = main
    context = click.Context(main, info_name="llmservice")
    words = words_of(command)
    while isinstance(verb, click.Group) and words and not words[0].startswith("-"):
        found = verb.get_command(context, words[0])
        assert found is not None, f"there is no verb {words[0]}"
        verb, words = found, words[1:]
        context = click.Context(verb, info_name=verb.name, parent=context)
    options = {name for parameter in verb.get_params(context) for name in [*parameter.opts, *parameter.secondary_opts]}
    used = {word.partition("=")[0] for word in words if re.match(r"-{1,2}[a-zA-Z]", word)}
    assert used - options == set()


def test_commands_are_found_in_pipes_and_over_several_lines() -> None:
    lines = ["$ a | llmservice plan - -o json \\", "    --platform gke && llmservice status # x", "  llmservice"]
    text = "\n".join(["```console", *lines, "```", ""])
    assert list(commands_in(text)) == ["plan - -o json  --platform gke", "status # x"]
    assert words_of("status # x") == ["status"]
    assert words_of("inspect m -o json > facts.json") == ["inspect", "m", "-o", "json"]
