"""What the activators hold, added up over all of them, by port."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from llmservice.reconcilers.activation.activators import Control
from llmservice.signals.held_page import HeldPage, PortCounts

Noted = Callable[[int, PortCounts], None]
"""Is told of a port at which something changed: requests held now in all, answered and refused since the last time."""


@dataclass(slots=True)
class HeldRequests:
    """The newest page of each activator. One that does not answer holds nothing that anybody could know of."""

    noted: Noted = lambda *_: None
    _pages: dict[Control, Mapping[int, PortCounts]] = field(default_factory=dict)

    def at(self, port: int) -> int:
        """Requests held at a port, by all activators together."""
        return sum(page[port].held for page in self._pages.values() if port in page)

    def put(self, control: Control, page: HeldPage) -> None:
        """Take what an activator answered."""
        before = self._pages.get(control)
        self._pages[control] = page.ports
        for port, counts in page.ports.items():
            was = (before or {}).get(port)
            if was != counts:
                self.noted(port, self._news(port, was if before is not None else counts, counts))
        for port in (before or {}).keys() - page.ports.keys():
            self.noted(port, PortCounts(held=self.at(port)))

    def drop(self, control: Control) -> None:
        """One is gone, or does not answer."""
        for port in self._pages.pop(control, {}):
            self.noted(port, PortCounts(held=self.at(port)))

    def _news(self, port: int, was: PortCounts | None, counts: PortCounts) -> PortCounts:
        """Of an activator that is asked for the first time only what it holds: the rest may have been told before."""
        was = was or PortCounts()
        return PortCounts(
            held=self.at(port),
            answered=_grown(was.answered, counts.answered),
            refused=_grown(was.refused, counts.refused),
        )


def _grown(was: int, now: int) -> int:
    """The growth of a counter, which begins at 0 when its process is started again."""
    return now - was if now >= was else now
