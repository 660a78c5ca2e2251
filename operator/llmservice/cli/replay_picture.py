"""The picture of a replay as a file, .svg or .png: what stands in the way of it is said before the work on it."""

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from llmservice.errors import InvalidInput, UsageError
from llmservice.simulation.replaying import Replay


def check_drawable(path: Path) -> None:
    """Raises UsageError for another ending or a missing folder, InvalidInput where nothing that draws is installed."""
    if path.suffix not in {".svg", ".png"}:
        raise UsageError("UnknownPictureFormat", f"--plot {path}: end it in .svg or .png")
    with _refusals_told(path):
        if not path.parent.is_dir():
            raise UsageError("NoFolder", f"--plot {path}: {path.parent} is no folder: create it, or name another")
    _chart(path)


def draw(path: Path, title: str, replays: Mapping[str, Replay]) -> None:
    """Draw the replays, by policy, into a file. Raises InvalidInput where it cannot be written."""
    chart = _chart(path)
    with _refusals_told(path):
        chart.save(chart.chart(title, replays), path)


@contextmanager
def _refusals_told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput(
            "PictureNotWritten", f"--plot {path}: {error.strerror}: name a file that you can write"
        ) from error


def _chart(path: Path) -> ModuleType:
    """The module that draws, imported only now: the image of the operator has no plotting library."""
    try:
        return importlib.import_module("llmservice.cli.replay_chart")
    except ImportError as error:
        raise InvalidInput(
            "ExtraMissing",
            f"--plot {path}: matplotlib is not installed: install the extra `plot` (in a checkout: pip install "
            "'.[plot]'), or leave out --plot",
        ) from error
