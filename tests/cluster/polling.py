"""Asks a service again and again, as its clients do, and keeps when nothing answered."""

import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

_EVERY_SECONDS = 0.05


@dataclass
class Answers:
    """Each outage from the first request without an answer to the first with one."""

    url: str
    asked: int = 0
    outages: list[tuple[datetime, datetime]] = field(default_factory=list)
    _down_since: datetime | None = None
    _over: threading.Event = field(default_factory=threading.Event)

    def poll(self) -> None:
        """Ask until told to stop."""
        while not self._over.is_set():
            before = datetime.now(UTC)
            answered = self.answers()
            self.asked += 1
            if answered and self._down_since:
                self.outages.append((self._down_since, datetime.now(UTC)))
            self._down_since = None if answered else self._down_since or before
            time.sleep(_EVERY_SECONDS)
        if self._down_since:
            self.outages.append((self._down_since, datetime.now(UTC)))

    def stop(self) -> None:
        """No further question."""
        self._over.set()

    def answers(self) -> bool:
        """Whether a request is answered now."""
        try:
            with urllib.request.urlopen(f"{self.url}/v1/models", timeout=2) as response:  # noqa: S310
                return bool(response.status == 200)
        except (urllib.error.URLError, OSError):
            return False


@contextmanager
def polled(url: str) -> Iterator[Answers]:
    """Ask at an address while the block runs."""
    answers = Answers(url)
    while not answers.answers():  # a fresh Service refuses until kube-proxy has written its rules
        time.sleep(_EVERY_SECONDS)
    thread = threading.Thread(target=answers.poll)
    thread.start()
    try:
        yield answers
    finally:
        answers.stop()
        thread.join()
