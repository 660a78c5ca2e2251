"""The load generator in an environment of its own, made on first use: it needs 139 packages that nothing else does."""

import asyncio
import hashlib
import os
import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import click

from llmservice.bench.generator import VERSION
from llmservice.errors import InvalidInput, Unavailable

GENERATOR_VARIABLE = "LLMSERVICE_BENCH_GENERATOR"
"""An aiperf that is installed already: in the image for clusters, and where no package index is reached."""

_TOLD = 800


async def generator() -> Path:
    """The command `aiperf`, installed if need be. Raises `InvalidInput` or `Unavailable` with the way out."""
    if given := os.environ.get(GENERATOR_VARIABLE):
        return _existing(Path(given))
    lock = (files("llmservice.bench") / "generator.lock").read_bytes()
    folder = _cache().expanduser() / f"bench-{VERSION}-{hashlib.sha256(lock + sys.version.encode()).hexdigest()[:12]}"
    command = folder / "bin" / "aiperf"
    if not await asyncio.to_thread(command.exists):
        await _install(lock, folder)
    return command


def _existing(path: Path) -> Path:
    if not path.is_file() or not os.access(path, os.X_OK):
        raise InvalidInput("NoGenerator", f"{path}: is no program: give the path of aiperf", field=GENERATOR_VARIABLE)
    return path


def _cache() -> Path:
    given = os.environ.get("LLMSERVICE_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return Path(given) if os.environ.get("LLMSERVICE_CACHE") and given else Path(given or "~/.cache") / "llmservice"


async def _install(lock: bytes, folder: Path) -> None:
    """All or nothing: what is interrupted leaves no half an environment behind."""
    click.echo(f"installing the load generator AIPerf {VERSION} into {folder}: once, about 900 MB ...", err=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.NamedTemporaryFile(suffix=".lock") as file:
        file.write(lock)
        file.flush()
        try:
            await _run(sys.executable, "-m", "venv", "--without-pip", str(folder))
            await _run(*_installer(folder), "--require-hashes", "-r", file.name)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _installer(folder: Path) -> tuple[str, ...]:
    """By uv where it is on the PATH or beside this Python, which takes seconds; else pip."""
    python = str(folder / "bin" / "python")
    if uv := shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent)):
        return uv, "pip", "install", "--quiet", "--python", python
    return sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"


async def _run(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        raise
    if process.returncode:
        said = output.decode(errors="replace").strip()[-_TOLD:]
        raise Unavailable(
            "GeneratorNotInstalled",
            f"{Path(command[0]).name} could not install the load generator: {said}; where no package index is reached, "
            f"install aiperf=={VERSION} elsewhere and set {GENERATOR_VARIABLE} to its path",
        )
