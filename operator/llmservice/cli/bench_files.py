"""Files that a bench leaves: picture, engine profile, trace. What stands in their way is said before the load."""

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import yaml

from llmservice.bench.profile import profile_of
from llmservice.bench.records import Record
from llmservice.bench.report import Report
from llmservice.errors import InvalidInput, UsageError


def check_picture(path: Path) -> None:
    """Raises UsageError for another ending or a missing folder, InvalidInput where nothing that draws is installed."""
    if path.suffix not in {".svg", ".png"}:
        raise UsageError("UnknownPictureFormat", f"{path}: end it in .svg or .png", field="--picture")
    check_writable(path)
    _chart(path)


def check_writable(*paths: Path | None) -> None:
    """Raises UsageError for a folder that does not exist."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise UsageError("NoFolder", f"{path}: {path.parent} is no folder: create it, or name another")


def draw(path: Path, reports: Sequence[Report]) -> None:
    """Draw one report, or two side by side."""
    chart = _chart(path)
    with _refusals_told(path):
        chart.save(chart.chart(reports), path)


def save_profile(
    path: Path, report: Report, records: Sequence[Record], slots: int | None, replicas: int | None
) -> None:
    """What one replica did, as `llmservice replay --profile` reads it. Raises InvalidInput where it says too little."""
    profile = profile_of(report, records, slots=slots, replicas=replicas or 1)
    with _refusals_told(path):
        path.write_text(yaml.safe_dump(profile, sort_keys=False, width=120), encoding="utf-8")


def save_trace(path: Path, records: Sequence[Record]) -> None:
    """When requests came and how long they were, as `llmservice replay --trace` reads it."""
    start = min((record.at for record in records), default=0.0)
    ordered = sorted((record for record in records if not record.error), key=lambda record: record.at)
    lines = [f"{record.at - start:.4f},{record.prompt_tokens},{record.answer_tokens}\n" for record in ordered]
    with _refusals_told(path):
        path.write_text("".join(("arrival_seconds,prompt_tokens,output_tokens\n", *lines)), encoding="utf-8")


@contextmanager
def _refusals_told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput("NotWritten", f"{path}: {error.strerror}: name a file that you can write") from error


def _chart(path: Path) -> ModuleType:
    """The module that draws, imported only now: the image of the operator has no plotting library."""
    try:
        return importlib.import_module("llmservice.bench.chart")
    except ImportError as error:
        raise InvalidInput(
            "ExtraMissing",
            f"{path}: matplotlib is not installed: install the extra `plot`, or leave out --picture",
        ) from error
