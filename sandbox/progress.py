"""Telling what is going on: one line per step, with the seconds it took."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.status import Status

SECONDS_BETWEEN_SIGNS_OF_LIFE = 20.0
Say = Callable[[str], None]


class Progress:
    """Prints steps, which may run side by side in threads.

    On a terminal, one line shows the latest words of those that run; elsewhere a plain line comes now and then.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(file=sys.stderr, quiet=quiet, highlight=False, soft_wrap=True)
        self._lock = threading.Lock()
        self._running: dict[str, str] = {}
        self._live: Status | None = None

    def note(self, text: str) -> None:
        """Say something that takes no time."""
        self._console.print(f"  {escape(text)}")

    @contextmanager
    def step(self, title: str) -> Iterator[Say]:
        """Time a step; the value is a function for the details as they come."""
        started = time.monotonic()
        if self._console.is_terminal:
            try:
                self._show(title, "")
                yield lambda detail: self._show(title, detail)
            finally:
                self._show(title, None)
        else:
            yield self._signs_of_life(title, started)
        self._console.print(f"  {escape(title)} [green]✓[/green] {time.monotonic() - started:.1f} s")

    def _show(self, title: str, detail: str | None) -> None:
        """What a step says now; None when it is over."""
        with self._lock:
            if detail is None:
                del self._running[title]
            else:
                self._running[title] = detail
            self._redraw()

    def _redraw(self) -> None:
        if not self._running:
            if self._live:
                self._live.stop()
            self._live = None
            return
        width = (self._console.width - 4) // len(self._running)
        text = escape("  ".join(f"{title}: {detail}"[: width - 2] for title, detail in self._running.items()))
        if self._live is None:
            self._live = self._console.status(text)
            self._live.start()
        else:
            self._live.update(text)

    def _signs_of_life(self, title: str, started: float) -> Say:
        spoken = started

        def say(detail: str) -> None:
            nonlocal spoken
            now = time.monotonic()
            if now - spoken > SECONDS_BETWEEN_SIGNS_OF_LIFE:
                spoken = now
                self._console.print(f"  {escape(title)} … {now - started:.0f} s: {escape(detail[:100])}")

        return say
