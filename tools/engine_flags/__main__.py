"""`python -m tools.engine_flags vllm 0.33.0 …`: records the options of engine versions for the catalogue.

vLLM's wheels come from the package index through pip, one at a time, and are deleted afterwards. TGI publishes no
package: its options are read from a clone of its public repository, at the release's tag.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import click

from llmservice.catalog.recorded_flags import Option, recording_of
from tools.engine_flags.tgi_launcher import launcher_options
from tools.engine_flags.vllm_wheel import wheel_choices, wheel_options

_FLAGS = Path(__file__).parents[2] / "operator/llmservice/catalog/flags"


@click.group()
def main() -> None:
    """Record which options engine versions know."""


@main.command()
@click.argument("versions", nargs=-1, required=True)
@click.option("--wheels", type=click.Path(path_type=Path, exists=True), help="A folder that has the wheels already.")
def vllm(versions: tuple[str, ...], wheels: Path | None) -> None:
    """From vLLM's wheels."""
    for version in versions:
        with tempfile.TemporaryDirectory() as folder:
            wheel = _wheel(version, wheels or Path(folder))
            choices = [f"{flag}: {' '.join(values)}" for flag, values in wheel_choices(wheel).items()]
            source = f"vllm serve {version}, from the argument definitions in its wheel. Written by tools.engine_flags."
            _record(f"vllm-{version}", (source, *choices), wheel_options(wheel))


@main.command()
@click.argument("versions", nargs=-1, required=True)
@click.option("--clone", required=True, type=click.Path(path_type=Path, exists=True), help="A clone of its repository.")
def tgi(versions: tuple[str, ...], clone: Path) -> None:
    """From the source of TGI's launcher; needs the public repository."""
    for version in versions:
        commit = _git(clone, "rev-parse", f"v{version}^{{commit}}").strip()
        source = _git(clone, "show", f"{commit}:launcher/src/main.rs")
        header = f"text-generation-launcher {version}, launcher/src/main.rs at {commit}. Written by tools.engine_flags."
        _record(f"tgi-{version}", (header,), launcher_options(source))


def _record(name: str, header: Iterable[str], options: list[Option]) -> None:
    lines = "".join(f"# {line}\n" for line in header)
    (_FLAGS / f"{name}.txt").write_text(lines + recording_of(iter(options)))
    click.echo(f"{name}.txt: {len(options)} options")


def _wheel(version: str, folder: Path) -> Path:
    if not (found := sorted(folder.glob(f"vllm-{version}-*.whl"))):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*pip, f"--dest={folder}", f"vllm=={version}"], check=True)  # noqa: S603  (pip, a version)
        found = sorted(folder.glob(f"vllm-{version}-*.whl"))
    return found[0]


def _git(clone: Path, *arguments: str) -> str:
    command = ["git", "-C", str(clone), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603  (git, a tag)


if __name__ == "__main__":
    main()
