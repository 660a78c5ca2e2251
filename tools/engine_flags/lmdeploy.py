"""LMDeploy's options, from its wheels: they are downloaded one at a time, and deleted afterwards."""

import tempfile
from pathlib import Path

import click

from tools.engine_flags.lmdeploy_wheel import wheel_choices, wheel_options, wheel_variables
from tools.engine_flags.recording import record, wheel


@click.command("lmdeploy")
@click.argument("versions", nargs=-1, required=True)
@click.option("--wheels", type=click.Path(path_type=Path, exists=True), help="A folder that has the wheels already.")
def command(versions: tuple[str, ...], wheels: Path | None) -> None:
    """From LMDeploy's wheels."""
    for version in versions:
        with tempfile.TemporaryDirectory() as folder:
            package = wheel("lmdeploy", version, wheels or Path(folder))
            choices = [f"{flag}: {' '.join(values)}" for flag, values in wheel_choices(package).items()]
            source = f"lmdeploy serve api_server {version}, from the argument definitions in its wheel."
            header = (f"{source} Written by tools.engine_flags.", *choices)
            record(f"lmdeploy-{version}", header, wheel_options(package), wheel_variables(package))
