"""vLLM's options, from its wheels: they are downloaded one at a time, and deleted afterwards."""

from pathlib import Path

import click

from llmservice.catalog.recorded_flags import recorded_variables
from tools.engine_flags.recording import FLAGS, record
from tools.engine_flags.vllm_wheel import wheel_choices, wheel_options, wheel_variables
from tools.engine_flags.wheels import choice_lines, each_wheel, of_versions


@click.command("vllm")
@of_versions
def command(versions: tuple[str, ...], wheels: Path | None) -> None:
    """From vLLM's wheels."""
    recorded = [path.read_text() for path in FLAGS.glob("vllm-*.txt")]
    known = {variable for text in recorded for variable in recorded_variables(text)}
    for version, package in each_wheel("vllm", versions, wheels):
        source = f"vllm serve {version}, from the argument definitions in its wheel. Written by tools.engine_flags."
        header = (source, *choice_lines(wheel_choices(package)))
        record(f"vllm-{version}", header, wheel_options(package), wheel_variables(package, known))
