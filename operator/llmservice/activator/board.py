"""What is held and was answered, by port, for the operator, who waits for a change of it."""

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_SHORTEST_PAUSE_SECONDS = 1.0
"""Between two versions that nobody is in a hurry for: under load, every request is a change."""

_MOST_PORTS = 10_000


@dataclass(slots=True)
class Board:
    """A page of counts with a version. `figures` is called for each page: ports and what is to be said of them."""

    figures: Callable[[], Iterable[tuple[int, Mapping[str, float]]]]
    _start: str = field(default_factory=lambda: secrets.token_hex(4))
    """Of this process: a version of another one is none of ours."""
    _number: int = 0
    _pending: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def version(self) -> str:
        """Of the page as it is now."""
        return f"{self._start}-{self._number}"

    def page(self) -> dict[str, Any]:
        """The page as it is now."""
        ports = {str(port): dict(figures) for port, figures in self.figures()}
        return {"version": self.version, "ports": dict(list(ports.items())[:_MOST_PORTS])}

    def change(self, *, hurry: bool = False) -> None:
        """Make a new version: at once for what wakes a service, else soon, together with what changes meanwhile."""
        if hurry:
            self._publish()
        elif not self._pending:
            self._pending = True
            asyncio.get_running_loop().call_later(_SHORTEST_PAUSE_SECONDS, self._publish_pending)

    async def after(self, version: str, seconds: float) -> dict[str, Any]:
        """The page once it has another version than this, or after so many seconds."""
        if version == self.version:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
        return self.page()

    def _publish_pending(self) -> None:
        self._pending = False
        self._publish()

    def _publish(self) -> None:
        self._number += 1
        self._changed.set()
        self._changed = asyncio.Event()
