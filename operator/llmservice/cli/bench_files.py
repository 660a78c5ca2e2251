"""Files that a bench leaves: picture, engine profile, trace. What stands in their way is said before the load."""

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import click
import yaml

from llmservice.bench.measured import narrow, profile_of
from llmservice.bench.records import Record
from llmservice.bench.report import Report
from llmservice.cli.bench_measuring import Measured
from llmservice.errors import InvalidInput, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """What the command is to write; None for nothing. `slots` of all replicas, None to take what is known or seen."""

    picture: Path | None
    profile: Path | None
    trace_file: Path | None
    slots: int | None

    def check(self) -> None:
        """Raises UsageError for another ending or a missing folder, InvalidInput where nothing that draws is there."""
        if self.slots is not None and self.profile is None:
            raise UsageError("OptionWithoutEffect", "would change nothing: it belongs to --save", field="--slots")
        if self.picture is not None and self.picture.suffix not in {".svg", ".png"}:
            raise UsageError("UnknownPictureFormat", f"{self.picture}: end it in .svg or .png", field="--picture")
        for path in filter(None, (self.picture, self.profile, self.trace_file)):
            if not path.parent.is_dir():
                raise UsageError("NoFolder", f"{path}: {path.parent} is no folder: create it, or name another")
        if self.picture is not None:
            _chart(self.picture)

    def write(self, measured: Sequence[Measured]) -> None:
        """Profile and trace are of the first target. Raises InvalidInput where a file cannot be written."""
        first = measured[0]
        if self.picture is not None:
            draw(self.picture, [each.report for each in measured])
        if self.profile is not None:
            save_profile(self.profile, first, self.slots or first.slots)
        if self.trace_file is not None:
            save_trace(self.trace_file, first.records)


def draw(path: Path, reports: Sequence[Report]) -> None:
    """Draw one report, or two side by side."""
    chart = _chart(path)
    with _refusals_told(path):
        chart.save(chart.chart(reports), path)


def save_profile(path: Path, measured: Measured, slots: int | None) -> None:
    """What one replica did, as `llmservice replay --profile` reads it. Raises InvalidInput where it says too little."""
    profile = profile_of(measured.report, measured.records, slots=slots, replicas=measured.replicas or 1)
    if narrow(measured.records):
        remedy = "--sweep with --mixed has several"
        click.echo(f"{path}: all prompts have about one length, and it predicts no other well: {remedy}", err=True)
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
