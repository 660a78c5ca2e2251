"""`python -m demo up|down`."""

import sys
from collections.abc import Callable

import click

from demo.showing import show, take_down
from sandbox import SandboxError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """The main job, end to end, on a real Kubernetes on this machine."""


@main.command()
def up() -> None:
    """Start the cluster and the operator, apply an example, print an answer; can be repeated."""
    _run(show)


@main.command()
def down() -> None:
    """Stop the operator and the cluster; builds stay in the cache."""
    _run(take_down)


def _run(action: Callable[[], None]) -> None:
    try:
        action()
    except SandboxError as error:
        click.echo(f"demo: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main(prog_name="python -m demo")
