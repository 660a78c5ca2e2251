"""`python -m tools.release VERB`: make a release, or what a fork or the next version needs."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from llmservice import __version__
from sandbox.errors import SandboxError
from sandbox.progress import Progress
from tools.release import files
from tools.release.building import Options, make_release, workplace, write_plugin_here
from tools.release.checks import is_semver, problems
from tools.release.names import ROOT, Names, names
from tools.release.provenance import Source
from tools.release.renaming import rename_checkout
from tools.release.sources import checkout, export, head

RELEASES = ROOT / "build" / "release"
_REGISTRY = click.option(
    "--registry", default="", help="Registry and owner of the images; else that of pyproject.toml."
)
_REPOSITORY = click.option("--repository", default="", help="Address of the sources; else that of pyproject.toml.")
_Command = Callable[..., None]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Make the files of a release (docs/contributing/release.md)."""


def _of_a_release(command: _Command) -> _Command:
    digest = click.option(
        "--image-digest", "digest", default="", help="sha256:… of the image in the registry: none is built here."
    )
    plugins = click.option(
        "--plugins", type=click.Path(path_type=Path, exists=True), help="Folder with built kubectl-llm."
    )
    builder = click.option("--builder", default="", help="URI of who builds, for the provenance.")
    final = click.option("--final", is_flag=True, help="The changelog has to name the day.")
    for option in (click.argument("version"), _REGISTRY, _REPOSITORY, digest, plugins, builder, final):
        command = option(command)
    return command


@main.command()
@_of_a_release
def build(version: str, registry: str, repository: str, *, final: bool, **given: Any) -> None:
    """Make every file of VERSION in build/release/VERSION."""
    source = _checked(version, _names(registry, repository), final=final)
    target = RELEASES / version
    make_release(source, Options(**given), target, Progress())
    for path in sorted(target.iterdir()):
        click.echo(f"{path.stat().st_size / 1e6:8.1f} MB  {path.relative_to(ROOT)}")


@main.command()
@_of_a_release
def twice(version: str, registry: str, repository: str, *, final: bool, **given: Any) -> None:
    """Make VERSION twice, each from nothing, and compare: 1 if a file differs."""
    source = _checked(version, _names(registry, repository), final=final)
    options = Options(**given)
    targets = (RELEASES / version, RELEASES / f"{version}-again")
    for target in targets:
        make_release(source, options, target, Progress())
    first, again = ({path.name: files.sha256(path) for path in target.iterdir()} for target in targets)
    different = sorted(name for name in first | again if first.get(name) != again.get(name))
    if different:
        raise click.ClickException(f"different bytes: {', '.join(different)}; both are in {RELEASES}")
    click.echo(f"{len(first)} files, the same bytes twice")


@main.command()
@click.argument("version")
@_REGISTRY
@_REPOSITORY
def plugin(version: str, registry: str, repository: str) -> None:
    """Make kubectl-llm of VERSION for this machine in build/release/kubectl-llm."""
    source = _checked(version, _names(registry, repository), final=False)
    with workplace(RELEASES / "kubectl-llm") as (work, output):
        export(source, work / "source")
        write_plugin_here(source, work / "source", work / "plugin", output, Progress())


@main.command()
@click.argument("version")
@click.option("--final", is_flag=True, help="The changelog has to name the day.")
def check(version: str, *, final: bool) -> None:
    """Say why VERSION cannot be made from this checkout, or nothing."""
    _checked(version, names(), final=final)


@main.command()
@click.option("--version", default="", help="The next version; else it stays.")
@_REGISTRY
@_REPOSITORY
def rename(version: str, registry: str, repository: str) -> None:
    """Change registry, repository or version in every file of this checkout that names them."""
    if version and not is_semver(version):
        raise click.UsageError(f"{version!r} is no version of semver.org that a tag can be, such as 0.2.0")
    changed = rename_checkout(names(), _names(registry, repository), (__version__, version or __version__))
    click.echo("\n".join(changed) or "nothing names anything else")


def _checked(version: str, to: Names, *, final: bool) -> Source:
    if found := problems(version, checkout(version), final=final):
        for problem in found:
            click.echo(f"release: {problem}", err=True)
        sys.exit(1)
    return head(version, to)


def _names(registry: str, repository: str) -> Names:
    ours = names()
    try:
        return Names(registry=registry.lower() or ours.registry, repository=repository or ours.repository)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, SandboxError) as error:
        sys.exit(f"release: {error}")
