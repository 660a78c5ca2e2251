"""The options of llama.cpp's older builds, from the copy of its source inside llama-cpp-python."""

import tarfile
import tempfile
from pathlib import Path

import click

from tools.engine_flags.llamacpp_source import server_options
from tools.engine_flags.recording import member, record, sdist


@click.command("llamacpp")
@click.argument("build")
@click.option("--commit", required=True, help="The commit of that build, as the package's CHANGELOG.md names it.")
@click.option("--package", required=True, help="The version of llama-cpp-python that has a copy of that commit.")
@click.option("--sdists", type=click.Path(path_type=Path, exists=True), help="A folder that has the package already.")
def command(build: str, commit: str, package: str, sdists: Path | None) -> None:
    """From llama.cpp's source, as llama-cpp-python vendors it."""
    with tempfile.TemporaryDirectory() as folder:
        source = _source(sdist("llama-cpp-python", package, sdists or Path(folder)), commit, package)
    header = f"llama-server {build}, common/arg.cpp at {commit} (in llama-cpp-python {package})."
    record(f"llamacpp-{build}", (f"{header} Written by tools.engine_flags.",), server_options(source))


def _source(archive: Path, commit: str, package: str) -> str:
    """The file with the options; raises ClickException where the package has another commit."""
    root = f"llama_cpp_python-{package}"
    with tarfile.open(archive) as opened:
        changes = member(opened, f"{root}/CHANGELOG.md").partition(f"## [{package}]")[2].partition("\n## ")[0]
        if f"llama.cpp@{commit}" not in changes:
            raise click.ClickException(
                f"llama-cpp-python {package} does not say that it has {commit}: see CHANGELOG.md"
            )
        return member(opened, f"{root}/vendor/llama.cpp/common/arg.cpp")
