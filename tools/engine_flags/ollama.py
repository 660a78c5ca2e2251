"""Ollama's variables: it has no options, and no package of it is complete, so they are read from a clone."""

import re
from pathlib import Path

import click

from llmservice.catalog.recorded_flags import Option, Takes
from tools.engine_flags.recording import git, record

_SOURCE = "envconfig/config.go"
_VARIABLE = re.compile(r'"(OLLAMA_[A-Z0-9_]+)"')
_HELP = Option(("-h", "--help"), "", Takes.NONE)


@click.command("ollama")
@click.argument("versions", nargs=-1, required=True)
@click.option("--clone", required=True, type=click.Path(path_type=Path, exists=True), help="A clone of its repository.")
def command(versions: tuple[str, ...], clone: Path) -> None:
    """From the source of Ollama's configuration; needs the public repository."""
    for version in versions:
        commit = git(clone, "rev-parse", f"v{version}^{{commit}}").strip()
        header = f"ollama serve {version}, {_SOURCE} at {commit}. Written by tools.engine_flags."
        record(f"ollama-{version}", (header,), [_HELP], variables(git(clone, "show", f"{commit}:{_SOURCE}")))


def variables(source: str) -> list[str]:
    """The variables in this source, each once, sorted; those of other programs left out."""
    return sorted(set(_VARIABLE.findall(source)))
