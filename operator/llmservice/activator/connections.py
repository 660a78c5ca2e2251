"""The connections of all ports, with a bound: many of one port take no place from another's."""

import asyncio
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

_LOOKS_SECONDS = 1.0


class Conversation(Protocol):
    """A client's connection."""

    @property
    def is_idle(self) -> bool:
        """Whether no request of it is being answered."""

    @property
    def is_gone(self) -> bool:
        """Whether the client ended it, which nobody has read yet."""

    def hang_up(self) -> None:
        """End it now."""


@dataclass(slots=True)
class Connections:
    """Those that are open, by port, in the order they came. `most`: of all ports together."""

    most: int
    _open: dict[int, dict[Conversation, None]] = field(default_factory=dict)
    _all: int = 0

    def __len__(self) -> int:
        return self._all

    def came(self, port: int, conversation: Conversation) -> None:
        """One more. Where there are too many, the port with most loses the oldest that is idle, else this one goes."""
        self._open.setdefault(port, {})[conversation] = None
        self._all += 1
        if self._all > self.most:
            busiest = max(self._open, key=lambda each: len(self._open[each]))
            idle = next(
                (each for each in self._open[busiest] if each.is_idle and each is not conversation), conversation
            )
            idle.hang_up()

    def went(self, port: int, conversation: Conversation) -> None:
        """One less."""
        of_port = self._open.get(port, {})
        if conversation in of_port:
            del of_port[conversation]
            self._all -= 1
        if not of_port:
            self._open.pop(port, None)

    async def run(self) -> NoReturn:
        """Hang up on those that are gone; never returns."""
        while True:
            await asyncio.sleep(_LOOKS_SECONDS)
            for each in [each for of_port in self._open.values() for each in of_port if each.is_gone]:
                each.hang_up()

    def hang_up_all(self) -> None:
        """End every one."""
        for each in [each for of_port in self._open.values() for each in of_port]:
            each.hang_up()

    def hang_up_idle(self, port: int) -> None:
        """End those of a port that wait for nothing."""
        for each in tuple(self._open.get(port, ())):
            if each.is_idle:
                each.hang_up()
