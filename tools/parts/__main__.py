"""`python -m tools.parts check then unit then cluster chart-tests`."""

import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from tools.parts.running import run_stages

_BETWEEN = "then"
_INTERRUPTED = 130


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("targets", nargs=-1, required=True)
@click.option("--logs", default=Path("build/parts"), type=click.Path(path_type=Path), help="Folder for their output.")
def main(targets: tuple[str, ...], logs: Path) -> None:
    """Run TARGETS of the Makefile side by side; the word `then` begins the next stage.

    After a stage with a failure no other begins. Exit codes: 0 when all passed, 1 when one failed, 130 on Ctrl-C.
    """
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background job begins with SIGINT ignored, for all below
        signal.signal(number, signal.default_int_handler)
    began = time.monotonic()
    try:
        failed = run_stages(stages_of(targets), logs, lambda text: click.echo(text, color=False))
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
    click.echo(f"\nAll of it: {time.monotonic() - began:.0f} s")


def stages_of(targets: Sequence[str]) -> list[list[str]]:
    """The words between each `then`."""
    stages: list[list[str]] = [[]]
    for target in targets:
        if target == _BETWEEN:
            stages.append([])
        else:
            stages[-1].append(target)
    return [stage for stage in stages if stage]


if __name__ == "__main__":
    main(prog_name="python -m tools.parts")
