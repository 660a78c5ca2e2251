"""What a request is told on its arrival: that the line is full, before it is read; or nothing, and it is expected."""

from dataclasses import dataclass
from functools import lru_cache

from llmservice.activator.desk import Desk
from llmservice.activator.hall import Hall
from llmservice.activator.refusals import Code, Refusal, refused

_HELD = b"POST "
_END = b"\r\n\r\n"
NOTHING = b""


@dataclass(slots=True)
class Expected:
    """A request that is about to join a line. It counts there until it is `here`, or will never be."""

    desk: Desk | None

    def here(self) -> None:
        """It has come, or never will; the second time says nothing."""
        if self.desk is not None:
            self.desk.coming -= 1
            self.desk = None


@dataclass(frozen=True, slots=True)
class Reception:
    """Of one port."""

    hall: Hall
    port: int

    def turned_away(self, begun: bytes) -> bytes:
        """What a request that begins like this is told, on a connection that ends with it; empty where it is read."""
        desk = self.hall.desks.get(self.port)
        if desk is None or not begun.startswith(_HELD) or (refusal := self.hall.turned_away(desk)) is None:
            return NOTHING
        return _told(refusal.code, refusal.message, desk.served.activation.start_seconds)

    def expect(self, begun: bytes) -> Expected | None:
        """One more for the line, if it can wait there and its head is whole: half of one may never become a request."""
        desk = self.hall.desks.get(self.port)
        if desk is None or not begun.startswith(_HELD) or _END not in begun:
            return None
        desk.coming += 1
        return Expected(desk)


@lru_cache(maxsize=1024)
def _told(code: Code, message: str, start_seconds: float | None) -> bytes:
    return refused(Refusal(code, message), start_seconds).last()
