"""The options of `transformers serve`, from the definitions in the package's wheel."""

import zipfile
from pathlib import Path

import click

from tools.engine_flags.recording import record
from tools.engine_flags.typer_source import typer_options
from tools.engine_flags.wheels import each_wheel, of_versions

_SOURCE = "transformers/cli/serve.py"


@click.command("transformers")
@of_versions
def command(versions: tuple[str, ...], wheels: Path | None) -> None:
    """From the wheels of transformers."""
    for version, package in each_wheel("transformers", versions, wheels):
        with zipfile.ZipFile(package) as archive:
            options = typer_options(archive.read(_SOURCE).decode(), "__init__")
        header = f"transformers serve {version}, {_SOURCE} of its wheel. Written by tools.engine_flags."
        record(f"transformers-{version}", (header,), options)
