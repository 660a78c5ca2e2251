"""The options of `transformers serve`, from the definitions in the package's wheel."""

import tempfile
import zipfile
from pathlib import Path

import click

from tools.engine_flags.recording import record, wheel
from tools.engine_flags.typer_source import typer_options

_SOURCE = "transformers/cli/serve.py"


@click.command("transformers")
@click.argument("versions", nargs=-1, required=True)
@click.option("--wheels", type=click.Path(path_type=Path, exists=True), help="A folder that has the wheels already.")
def command(versions: tuple[str, ...], wheels: Path | None) -> None:
    """From the wheels of transformers."""
    for version in versions:
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(wheel("transformers", version, wheels or Path(folder))) as archive:
                options = typer_options(archive.read(_SOURCE).decode(), "__init__")
            header = f"transformers serve {version}, {_SOURCE} of its wheel. Written by tools.engine_flags."
            record(f"transformers-{version}", (header,), options)
