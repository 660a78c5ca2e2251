"""LMDeploy's options, from its wheels: they are downloaded one at a time, and deleted afterwards."""

from pathlib import Path

import click

from tools.engine_flags.lmdeploy_wheel import wheel_choices, wheel_options, wheel_variables
from tools.engine_flags.recording import record
from tools.engine_flags.wheels import choice_lines, each_wheel, of_versions


@click.command("lmdeploy")
@of_versions
def command(versions: tuple[str, ...], wheels: Path | None) -> None:
    """From LMDeploy's wheels."""
    for version, package in each_wheel("lmdeploy", versions, wheels):
        source = f"lmdeploy serve api_server {version}, from the argument definitions in its wheel."
        header = (f"{source} Written by tools.engine_flags.", *choice_lines(wheel_choices(package)))
        record(f"lmdeploy-{version}", header, wheel_options(package), wheel_variables(package))
