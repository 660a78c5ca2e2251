"""TGI's options: it publishes no package, so they are read from a clone of its repository, at the release's tag."""

from pathlib import Path

import click

from tools.engine_flags.recording import git, record
from tools.engine_flags.tgi_launcher import launcher_options


@click.command("tgi")
@click.argument("versions", nargs=-1, required=True)
@click.option("--clone", required=True, type=click.Path(path_type=Path, exists=True), help="A clone of its repository.")
def command(versions: tuple[str, ...], clone: Path) -> None:
    """From the source of TGI's launcher; needs the public repository."""
    for version in versions:
        commit = git(clone, "rev-parse", f"v{version}^{{commit}}").strip()
        source = git(clone, "show", f"{commit}:launcher/src/main.rs")
        header = f"text-generation-launcher {version}, launcher/src/main.rs at {commit}. Written by tools.engine_flags."
        record(f"tgi-{version}", (header,), launcher_options(source))
