"""Telling what is going on: one line per step, with the seconds it took."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape

SECONDS_BETWEEN_SIGNS_OF_LIFE = 20.0
Say = Callable[[str], None]


class Progress:
    """Prints steps. On a terminal a running step shows its latest line; elsewhere a plain line now and then."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(file=sys.stderr, quiet=quiet, highlight=False, soft_wrap=True)

    def note(self, text: str) -> None:
        """Say something that takes no time."""
        self._console.print(f"  {escape(text)}")

    @contextmanager
    def step(self, title: str) -> Iterator[Say]:
        """Time a step; the value is a function for the details as they come."""
        started = time.monotonic()
        if self._console.is_terminal:
            with self._console.status(escape(title)) as live:
                yield lambda detail: live.update(escape(f"{title}: {detail}"[: self._console.width - 4]))
        else:
            yield self._signs_of_life(title, started)
        self._console.print(f"  {escape(title)} [green]✓[/green] {time.monotonic() - started:.1f} s")

    def _signs_of_life(self, title: str, started: float) -> Say:
        spoken = started

        def say(detail: str) -> None:
            nonlocal spoken
            now = time.monotonic()
            if now - spoken > SECONDS_BETWEEN_SIGNS_OF_LIFE:
                spoken = now
                self._console.print(f"  {escape(title)} … {now - started:.0f} s: {escape(detail[:100])}")

        return say
