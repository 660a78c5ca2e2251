"""Wheel and sdist, and kubectl-llm with its own Python: built in an environment that requirements/release.lock pins."""

import platform
import tomllib
from pathlib import Path

from sandbox.cache import Build, Recipe
from sandbox.commands import follow
from sandbox.progress import Say
from tools.release.files import Target, pack, plugin_archive
from tools.release.names import ROOT

LOCK = ROOT / "requirements" / "release.lock"
_PLUGIN = "kubectl-llm"
_UNUSED = ("pip", "setuptools", "tkinter")
_MACHINES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def environment_build() -> Build:
    """A virtual environment with what the operator needs and what builds its files."""
    recipe = Recipe(name="release-venv", version=platform.python_version(), inputs={"lock": LOCK.read_bytes()})
    return Build(recipe=recipe, title="Environment of the release", make=_make_environment)


def write_distributions(python: Path, source: Path, output: Path, epoch: int, say: Say) -> None:
    """Build wheel and sdist of a copy of the sources into a folder."""
    follow([python, "-m", "hatchling", "build", "--directory", output], say, cwd=source, environment=_dated(epoch))


def write_plugin(python: Path, source: Path, work: Path, archive: Path, epoch: int, say: Say) -> None:
    """Pack the program with Python and all it imports: for the system, and at least the libc, that it is built on."""
    work.mkdir()
    entry = work / f"{_PLUGIN}.py"
    module, _, function = entry_point((source / "pyproject.toml").read_text("utf-8")).partition(":")
    entry.write_text(f"from {module} import {function}\n\n{function}()\n", "utf-8")
    places: list[str | Path] = ["--distpath", work / "dist", "--workpath", work / "build", "--specpath", work]
    shape = ["--onedir", "--name", _PLUGIN, "--contents-directory", "files", "--collect-all", "llmservice"]
    left_out = [f"--exclude-module={name}" for name in _UNUSED]
    command: list[str | Path] = [
        python,
        "-m",
        "PyInstaller",
        "--noconfirm",
        "--clean",
        *places,
        *shape,
        *left_out,
        entry,
    ]
    # The same order of sets each time, as PyInstaller's manual says of reproducible builds.
    environment = {**_dated(epoch), "PYTHONHASHSEED": "0", "PYTHONPATH": str(source / "operator")}
    environment["PYINSTALLER_CONFIG_DIR"] = str(work / "cache")
    follow(command, say, environment=environment)
    root = work / "dist" / _PLUGIN
    (root / "LICENSE").write_bytes((source / "LICENSE").read_bytes())
    pack(archive, root, root.rglob("*"), epoch)


def plugin_path(folder: Path, version: str) -> Path:
    """Where the archive for this machine goes."""
    return folder / plugin_archive(version, this_machine())


def this_machine() -> Target:
    """The platform that programs are built for here."""
    return Target(os=platform.system().lower(), arch=_MACHINES.get(platform.machine(), platform.machine()))


def entry_point(pyproject: str) -> str:
    """`module:function` of kubectl-llm, else of llmservice, which does the same by another name."""
    scripts = tomllib.loads(pyproject)["project"]["scripts"]
    found: str = scripts.get(_PLUGIN) or scripts["llmservice"]
    return found


def _dated(epoch: int) -> dict[str, str]:
    return {"SOURCE_DATE_EPOCH": str(epoch), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": ""}


def _make_environment(work: Path, output: Path, say: Say) -> None:
    """Made where it is packed, moved after: programs in it are run by `python -m`, which finds them anywhere."""
    del work
    follow(["python3", "-m", "venv", output], say)
    install = [
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-deps",
        "--require-hashes",
        "--only-binary=:all:",
    ]
    follow([output / "bin" / "python", *install, "--requirement", LOCK], say)
