"""One download at a time into a folder of the claim, by a file: network file systems lock nothing else reliably.

The owner writes a growing number into the file every few seconds. Who waits compares what it reads with what it read
before, by its own clock: the clocks of two nodes may differ. A lock whose number stands still belongs to nobody.
"""

import asyncio
import contextlib
import json
import os
import socket
import sys
import time
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from llmservice.download.claim import Claim
from llmservice.download.failing import failed
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.models.plausible import MalformedModel, json_object

_BEAT_SECONDS = 5.0
_LOOK_SECONDS = 1.0
_DEAD_SECONDS = 30.0
"""Six beats that did not come."""
_MOST_BYTES = 1024


@dataclass(slots=True)
class Lock:
    """The lock at `path`, as long as `held` runs. `lost` is called when somebody else took it meanwhile."""

    claim: Claim
    path: Path
    clock: Callable[[], float] = time.monotonic
    beat_seconds: float = _BEAT_SECONDS
    dead_seconds: float = _DEAD_SECONDS
    _name: str = field(default_factory=lambda: uuid.uuid4().hex, init=False)

    @contextlib.asynccontextmanager
    async def held(
        self, lost: Callable[[], object], waiting: Callable[[], object] = lambda: None
    ) -> AsyncIterator[None]:
        """Wait for the lock, and keep it; `waiting` is called once where another holds it. Raises DownloadFailed."""
        await self._taken(waiting)
        beat = asyncio.ensure_future(self._beat(lost))
        try:
            yield
        finally:
            beat.cancel()
            await asyncio.gather(beat, return_exceptions=True)
            if self._owner() == self._name:
                self.claim.remove(self.path)

    async def _taken(self, waiting: Callable[[], object]) -> None:
        seen, since, told = "", self.clock(), False
        while not self._made():
            if not told:
                told = True
                waiting()
            now_there = self._text()
            if now_there != seen:
                seen, since = now_there, self.clock()
            if self.clock() - since > self.dead_seconds or _is_of_a_dead_process(now_there):
                self._take_away(now_there)
            else:
                await asyncio.sleep(min(_LOOK_SECONDS, self.dead_seconds / 4))

    def _made(self) -> bool:
        """Whether the file was made by this call; only one of several callers makes it."""
        self.claim.folder_for(self.path)
        try:
            descriptor = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o664)
        except FileExistsError:
            return False
        except OSError as error:
            raise self.claim.trouble(self.path, error) from error
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(self._said(0))
        return True

    async def _beat(self, lost: Callable[[], object]) -> None:
        number = 0
        while True:
            await asyncio.sleep(self.beat_seconds)
            if self._owner() != self._name:
                lost()
                return
            number += 1
            with contextlib.suppress(Exception):  # a full disk: the next beat may come through
                self.claim.write_whole(self.path, self._said(number))

    def _take_away(self, stale: str) -> None:
        """Remove a dead lock, and put it back when it is another: somebody was quicker."""
        aside = self.path.with_name(f".{self.path.name}.{self._name}")
        try:
            self.path.rename(aside)
        except FileNotFoundError:
            return
        except OSError as error:
            raise self.claim.trouble(self.path, error) from error
        if self._text(aside) != stale:
            with contextlib.suppress(OSError):
                os.link(aside, self.path)
        self.claim.remove(aside)

    def _owner(self) -> str:
        return str(_values(self._text()).get("name", ""))

    def _text(self, path: Path | None = None) -> str:
        return (self.claim.small(path or self.path, _MOST_BYTES) or b"").decode(errors="replace")

    def _said(self, number: int) -> str:
        process = {"host": socket.gethostname(), "pid": os.getpid(), "started": _started(os.getpid())}
        return json.dumps({"name": self._name, "beat": number, **process})


def lock_lost() -> Exception:
    """What a download ends with when another one took its lock."""
    return failed(DownloadFailureReason.INTERRUPTED, "another download of this model took over")


def _is_of_a_dead_process(text: str) -> bool:
    """Whether the owner ran on this host and is gone: a pod's container that starts again keeps the pod's name."""
    said = _values(text)
    pid = said.get("pid")
    if said.get("host") != socket.gethostname() or not isinstance(pid, int):
        return False
    return _started(pid) != said.get("started")


def _started(pid: int) -> str:
    """When a process began, in ticks since the boot; empty where there is none."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return "" if sys.platform == "linux" else "unknown"
    return said.rpartition(")")[2].split()[19]


def _values(text: str) -> dict[str, object]:
    try:
        return json_object(text, "the lock", _MOST_BYTES)
    except MalformedModel:
        return {}
