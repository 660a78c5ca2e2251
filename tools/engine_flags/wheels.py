"""What the engines that are Python packages have in common: wheels of several versions, and what stands in them."""

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar
from zipfile import ZipFile

import click

from tools.engine_flags.recording import wheel

Command = TypeVar("Command", bound=Callable[..., Any])


def of_versions(command: Command) -> Command:
    """Adds the argument `versions` and the option --wheels."""
    folder = click.Path(path_type=Path, exists=True)
    with_wheels = click.option("--wheels", type=folder, help="A folder that has the wheels already.")
    return click.argument("versions", nargs=-1, required=True)(with_wheels(command))


def each_wheel(package: str, versions: Iterable[str], wheels: Path | None) -> Iterator[tuple[str, Path]]:
    """Each version and its wheel; one that was downloaded is deleted before the next."""
    for version in versions:
        with tempfile.TemporaryDirectory() as folder:
            yield version, wheel(package, version, wheels or Path(folder))


def choice_lines(choices: Mapping[str, Iterable[str]]) -> list[str]:
    """A line for each option: its values."""
    return [f"{flag}: {' '.join(values)}" for flag, values in choices.items()]


def variables_named(wheel: Path, prefix: str) -> list[str]:
    """Every environment variable with this prefix that one of the wheel's modules names, sorted."""
    pattern, found = re.compile(rb"\b%s[A-Z0-9_]*[A-Z0-9]\b" % prefix.encode()), set[bytes]()
    with ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".py"):
                found.update(pattern.findall(archive.read(name)))
    return sorted(name.decode() for name in found)
