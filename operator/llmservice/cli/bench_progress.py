"""How far a load is: a line that is written over on a terminal; elsewhere a line now and then."""

import contextlib
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import click

_BEGUN = b"Credit phase start"
"""In the log of AIPerf 0.13.0 when it sends the first request, some seconds after it was started."""
_CHUNK = 2**20


@dataclass(slots=True, kw_only=True)
class Progress:
    """Says on standard error how far a load is, every `tell_seconds` where that is no terminal."""

    tell_seconds: float
    _told_at: float = field(default_factory=time.monotonic)
    _is_shown: bool = False

    def show(self, text: str) -> None:
        """A state that the next one takes the place of."""
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[K{text}", err=True, nl=False)
            self._is_shown = True
        elif time.monotonic() - self._told_at > self.tell_seconds:
            self._told_at = time.monotonic()
            click.echo(text, err=True)

    def say(self, text: str) -> None:
        """A line that stays."""
        self.clear()
        click.echo(text, err=True)

    def clear(self) -> None:
        """Leave an empty line to what comes next."""
        if self._is_shown:
            click.echo("\r\x1b[K", err=True, nl=False)
        self._is_shown = False


@dataclass(slots=True)
class Lines:
    """Counts the lines of a file that grows."""

    path: Path
    bytes: int = 0
    lines: int = 0

    def count(self) -> int:
        """So far; 0 while there is no file."""
        with contextlib.suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(self.bytes)
            while chunk := file.read(_CHUNK):
                self.bytes += len(chunk)
                self.lines += chunk.count(b"\n")
        return self.lines


@dataclass(slots=True)
class Beginning:
    """Whether the load generator sends already, by the beginning of its log: it takes a while to start."""

    log: Path
    at: float | None = None

    def seconds(self, ended: int) -> float | None:
        """Since it began to send; None before. `ended`: how many requests have, which says so as well."""
        if self.at is None and (ended or self._is_told()):
            self.at = time.monotonic()
        return None if self.at is None else time.monotonic() - self.at

    def _is_told(self) -> bool:
        with contextlib.suppress(FileNotFoundError), self.log.open("rb") as file:
            return _BEGUN in file.read(_CHUNK)
        return False
