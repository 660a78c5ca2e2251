"""Runs the load generator phase by phase: shows how far it is, ends it on Ctrl-C, and reads what it wrote."""

import asyncio
import contextlib
import os
import secrets
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from llmservice.bench.generator import (
    KEY_VARIABLE,
    RECORDS,
    TOKENIZER,
    Target,
    input_lines,
    settings,
)
from llmservice.bench.load import MOST_REQUESTS, Load
from llmservice.bench.prompts import Calibration
from llmservice.bench.records import Record, records_of
from llmservice.cli.bench_progress import Beginning, Lines, Progress
from llmservice.errors import Unavailable

LOG = "generator.log"
_LOOK_SECONDS = 0.5
_PATIENCE_SECONDS = 30.0
"""For a generator that was told to stop."""

_MOST_BYTES = 4 * 2**30
_TOLD = 600


@dataclass(slots=True, kw_only=True)
class Running:
    """One load on one target. `folder` takes a folder for each run; `at_most_seconds` bounds all of them together.

    `salt` makes its prompts new to the server. `stop` is set to end it: what was measured by then stays.
    """

    generator: Path
    target: Target
    key: str
    load: Load
    calibration: Calibration
    folder: Path
    at_most_seconds: float
    progress: Progress
    salt: int = field(default_factory=lambda: secrets.randbits(32))
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    records: list[Record] = field(default_factory=list)
    unread: int = 0

    async def run(self) -> bool:
        """Send the load; whether all of it was sent. Raises `Unavailable` when the generator fails."""
        deadline = time.monotonic() + self.at_most_seconds
        for number, run in enumerate(self.load.runs()):
            folder = self.folder / f"run-{number + 1}"
            self._prepare(folder, run)
            try:
                whole, code = await self._run_one(folder, run, deadline)
            finally:
                self.progress.clear()
            read = self._read(folder / "output" / RECORDS)
            if whole and code and not (read and all(record.error for record in read)):
                raise Unavailable("GeneratorFailed", f"the load generator failed: {_last_words(folder)}")
            if not whole:
                return False
        return True

    def _prepare(self, folder: Path, run: Sequence[int]) -> None:
        (folder / "tokenizer").mkdir(parents=True)
        for name, content in TOKENIZER.items():
            (folder / "tokenizer" / name).write_bytes(orjson.dumps(content))
        configuration = settings(self.target, self.load, run, folder=str(folder))
        (folder / "settings.yaml").write_bytes(orjson.dumps(configuration))  # JSON is YAML
        with (folder / "input.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in input_lines(self.load, run, self.calibration, salt=self.salt))

    async def _run_one(self, folder: Path, run: Sequence[int], deadline: float) -> tuple[bool, int]:
        """Whether it came to its own end, and its exit code: 1 where every request failed, too."""
        with (folder / LOG).open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                str(self.generator),
                "profile",
                "--config",
                str(folder / "settings.yaml"),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env=_environment(self.key),
                start_new_session=True,  # Ctrl-C is for this process, which passes it on
            )
            try:
                whole = await self._watched(process, folder, run, deadline)
            finally:
                await _ended(process)
        return whole, process.returncode or 0

    async def _watched(
        self, process: asyncio.subprocess.Process, folder: Path, run: Sequence[int], deadline: float
    ) -> bool:
        """Whether it came to its own end."""
        ending, reading = asyncio.create_task(process.wait()), Lines(folder / "output" / RECORDS)
        beginning = Beginning(folder / LOG)
        planned = sum(self.load.phases[number].requests for number in run)
        began = time.monotonic()
        while not ending.done():
            await asyncio.wait((ending,), timeout=_LOOK_SECONDS)
            ended, seconds = reading.count(), time.monotonic() - began
            self.progress.show(self._text(run, ended, planned, beginning.seconds(ended), seconds))
            if self.stop.is_set() or time.monotonic() > deadline or reading.bytes > _MOST_BYTES:
                self.progress.say("stopping: waiting for what was measured ...")
                _signal(process, signal.SIGINT)
                await asyncio.wait((ending,), timeout=_PATIENCE_SECONDS)
                return False
        return True

    def _text(self, run: Sequence[int], ended: int, planned: int, sending: float | None, seconds: float) -> str:
        names = self.load.phases[run[0]].name if len(run) == 1 else self.load.name
        place = f"{self.load.rows} {names} ({run[-1] + 1}/{len(self.load.phases)})"
        if sending is None:
            return f"{place}: the load generator starts, {seconds:.0f} s"
        return f"{place}: {ended} of {planned} requests, {sending:.0f} s"

    def _read(self, path: Path) -> list[Record]:
        """What was recorded of a run."""
        with contextlib.suppress(FileNotFoundError), path.open(encoding="utf-8", errors="replace") as file:
            records, unread = records_of(_bounded(file))
            self.records += records
            self.unread += unread
            return records
        return []


def _bounded(file: Iterator[str]) -> Iterator[str]:
    for number, line in enumerate(file):
        if number >= MOST_REQUESTS:
            return
        yield line


def _environment(key: str) -> dict[str, str]:
    """Of the generator: ours, the key, and no word to any hub."""
    quiet = {"HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1", "NO_COLOR": "1", "COLUMNS": "200"}
    return {**os.environ, **quiet, KEY_VARIABLE: key}


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Its whole session is gone afterwards: it has processes of its own."""
    _signal(process, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        await process.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """An interrupt is for the first process, which ends the others in order; a kill for all."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if number is signal.SIGKILL:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def _last_words(folder: Path) -> str:
    """The last errors of its log, in one line."""
    with contextlib.suppress(OSError):
        with (folder / LOG).open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 64 * 1024))
            lines = file.read().decode(errors="replace").splitlines()
        errors = [line for line in lines if "ERROR" in line or "Error" in line] or lines
        return " ".join(" ".join(errors[-3:]).split())[:_TOLD]
    return "it said nothing"
