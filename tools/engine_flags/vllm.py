"""vLLM's options, from its wheels: they are downloaded one at a time, and deleted afterwards."""

import tempfile
from pathlib import Path

import click

from llmservice.catalog.recorded_flags import recorded_variables
from tools.engine_flags.recording import FLAGS, record, wheel
from tools.engine_flags.vllm_wheel import wheel_choices, wheel_options, wheel_variables


@click.command("vllm")
@click.argument("versions", nargs=-1, required=True)
@click.option("--wheels", type=click.Path(path_type=Path, exists=True), help="A folder that has the wheels already.")
def command(versions: tuple[str, ...], wheels: Path | None) -> None:
    """From vLLM's wheels."""
    recorded = [path.read_text() for path in FLAGS.glob("vllm-*.txt")]
    known = {variable for text in recorded for variable in recorded_variables(text)}
    for version in versions:
        with tempfile.TemporaryDirectory() as folder:
            package = wheel("vllm", version, wheels or Path(folder))
            choices = [f"{flag}: {' '.join(values)}" for flag, values in wheel_choices(package).items()]
            source = f"vllm serve {version}, from the argument definitions in its wheel. Written by tools.engine_flags."
            record(f"vllm-{version}", (source, *choices), wheel_options(package), wheel_variables(package, known))
