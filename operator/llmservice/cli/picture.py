"""A picture as a file, .svg or .png: what stands in the way of it can be said before the work on it."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from llmservice.errors import InvalidInput, UsageError


def check_drawable(path: Path) -> None:
    """Raises UsageError for another ending or a missing folder, InvalidInput for a .png without what draws it."""
    if path.suffix == ".png":
        _cairosvg()
    elif path.suffix != ".svg":
        raise UsageError("UnknownPictureFormat", f"--plot {path}: end it in .svg or .png")
    with _refusals_told(path):
        if not path.parent.is_dir():
            raise UsageError("NoFolder", f"--plot {path}: {path.parent} is no folder: create it, or name another")


def draw(path: Path, picture: str) -> None:
    """Write an SVG text to a .svg or, drawn, to a .png. Raises InvalidInput where that is impossible."""
    content = picture.encode()
    if path.suffix == ".png":
        content = bytes(_cairosvg().svg2png(bytestring=content))
    with _refusals_told(path):
        path.write_bytes(content)


@contextmanager
def _refusals_told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput(
            "PictureNotWritten", f"--plot {path}: {error.strerror}: name a file that you can write"
        ) from error


def _cairosvg() -> ModuleType:
    try:
        return importlib.import_module("cairosvg")
    except (ImportError, OSError) as error:
        raise InvalidInput(
            "ExtraMissing", "--plot to .png needs cairosvg (the extra `replay`) and libcairo; .svg needs nothing"
        ) from error
