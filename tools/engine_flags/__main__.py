"""`python -m tools.engine_flags vllm 0.33.0 …`: records what engine versions read, for the catalogue.

vLLM's wheels come from the package index through pip, one at a time, and are deleted afterwards. TGI publishes no
package: its options are read from a clone of its public repository, at the release's tag. Those of older builds of
llama.cpp come from the copy of its source inside llama-cpp-python.
"""

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from llmservice.catalog.recorded_flags import Option, recorded_variables, recording_of
from tools.engine_flags.llamacpp_source import server_options
from tools.engine_flags.tgi_launcher import launcher_options
from tools.engine_flags.vllm_wheel import wheel_choices, wheel_options, wheel_variables

_FLAGS = Path(__file__).parents[2] / "operator/llmservice/catalog/flags"


@click.group()
def main() -> None:
    """Record which options engine versions know."""


@main.command()
@click.argument("versions", nargs=-1, required=True)
@click.option("--wheels", type=click.Path(path_type=Path, exists=True), help="A folder that has the wheels already.")
def vllm(versions: tuple[str, ...], wheels: Path | None) -> None:
    """From vLLM's wheels."""
    recorded = [path.read_text() for path in _FLAGS.glob("vllm-*.txt")]
    known = {variable for text in recorded for variable in recorded_variables(text)}
    for version in versions:
        with tempfile.TemporaryDirectory() as folder:
            wheel = _wheel(version, wheels or Path(folder))
            choices = [f"{flag}: {' '.join(values)}" for flag, values in wheel_choices(wheel).items()]
            source = f"vllm serve {version}, from the argument definitions in its wheel. Written by tools.engine_flags."
            _record(f"vllm-{version}", (source, *choices), wheel_options(wheel), wheel_variables(wheel, known))


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


@main.command()
@click.argument("build")
@click.option("--commit", required=True, help="The commit of that build, as the package's CHANGELOG.md names it.")
@click.option("--package", required=True, help="The version of llama-cpp-python that has a copy of that commit.")
@click.option("--sdists", type=click.Path(path_type=Path, exists=True), help="A folder that has the package already.")
def llamacpp(build: str, commit: str, package: str, sdists: Path | None) -> None:
    """From llama.cpp's source, as llama-cpp-python vendors it."""
    with tempfile.TemporaryDirectory() as folder, tarfile.open(_sdist(package, sdists or Path(folder))) as archive:
        root = f"llama_cpp_python-{package}"
        changes = _member(archive, f"{root}/CHANGELOG.md").partition(f"## [{package}]")[2].partition("\n## ")[0]
        if f"llama.cpp@{commit}" not in changes:
            raise click.ClickException(
                f"llama-cpp-python {package} does not say that it has {commit}: see CHANGELOG.md"
            )
        source = _member(archive, f"{root}/vendor/llama.cpp/common/arg.cpp")
    header = f"llama-server {build}, common/arg.cpp at {commit} (in llama-cpp-python {package})."
    _record(f"llamacpp-{build}", (f"{header} Written by tools.engine_flags.",), server_options(source))


def _record(name: str, header: Iterable[str], options: Sequence[Option], variables: Sequence[str] = ()) -> None:
    lines = "".join(f"# {line}\n" for line in header)
    (_FLAGS / f"{name}.txt").write_text(lines + recording_of(options, variables))
    click.echo(f"{name}.txt: {len(options)} options, {len(variables)} variables")


def _wheel(version: str, folder: Path) -> Path:
    if not (found := sorted(folder.glob(f"vllm-{version}-*.whl"))):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*pip, f"--dest={folder}", f"vllm=={version}"], check=True)  # noqa: S603  (pip, a version)
        found = sorted(folder.glob(f"vllm-{version}-*.whl"))
    return found[0]


def _sdist(version: str, folder: Path) -> Path:
    name = "llama-cpp-python"
    if not (found := sorted(folder.glob(f"llama_cpp_python-{version}.tar.gz"))):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"--no-binary={name}"]
        subprocess.run([*pip, f"--dest={folder}", f"{name}=={version}"], check=True)  # noqa: S603  (pip, a version)
        found = sorted(folder.glob(f"llama_cpp_python-{version}.tar.gz"))
    return found[0]


def _member(archive: tarfile.TarFile, name: str) -> str:
    if not (member := archive.extractfile(name)):
        raise click.ClickException(f"{name} is no file in this package")
    return member.read().decode()


def _git(clone: Path, *arguments: str) -> str:
    command = ["git", "-C", str(clone), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603  (git, a tag)


if __name__ == "__main__":
    main()
