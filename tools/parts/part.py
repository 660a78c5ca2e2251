"""One target of the Makefile as a process of its own, its output in a file."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_SECONDS_TO_CLEAN_UP = 120
_TAIL_BYTES = 4096
_LINES_OF_TROUBLE = 80
_PERCENT = re.compile(r"\[ *(\d+)%\]")
_SUMMARY = re.compile(r"\d+ (?:passed|failed)\b.* in [\d.]+s")
_TROUBLE = re.compile(r"^=+ (?:FAILURES|ERRORS) =+$")


@dataclass(kw_only=True)
class Part:
    """A target that runs. All its processes are one process group, so that none of them can be left behind."""

    name: str
    log: Path
    process: subprocess.Popen[bytes]
    began: float
    seconds: float = 0

    @classmethod
    def start(cls, name: str, folder: Path, make: Iterable[str] = ("make",)) -> "Part":
        """Begin it; its log is `folder/name.log`, written anew."""
        folder.mkdir(parents=True, exist_ok=True)
        log = folder / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603
                [*make, name],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return cls(name=name, log=log, process=process, began=time.monotonic())

    def has_ended(self) -> bool:
        """Whether it is over; what it should have ended itself is ended then."""
        if self.process.poll() is None:
            return False
        self.seconds = self.seconds or time.monotonic() - self.began
        self._signal(signal.SIGKILL)
        return True

    @property
    def passed(self) -> bool:
        """Whether it ended, and well."""
        return self.process.returncode == 0

    def interrupt(self) -> None:
        """As Ctrl-C does; the part cleans up after itself."""
        self._signal(signal.SIGINT)

    def end(self, seconds: float = _SECONDS_TO_CLEAN_UP) -> None:
        """Wait until it has cleaned up, so many seconds at most; no process of it lives afterwards."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._signal(signal.SIGKILL)
        self.process.wait()

    def progress(self) -> str:
        """How far it is by its own words: `41 %`; empty when it has said nothing of that kind."""
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - _TAIL_BYTES))
            tail = log.read().decode(errors="replace")
        percents = _PERCENT.findall(tail)
        return f"{percents[-1]} %" if percents else ""

    def summaries(self) -> list[str]:
        """Pytest's last lines, `585 passed in 430 s`, without their ornament."""
        return [line.strip("= ") for line in self._lines() if _SUMMARY.search(line)]

    def trouble(self) -> list[str]:
        """What to show when it failed: pytest's report from the first failure on, else the last lines."""
        lines = self._lines()
        first = next((number for number, line in enumerate(lines) if _TROUBLE.match(line)), -_LINES_OF_TROUBLE)
        return lines[first:]

    def _lines(self) -> list[str]:
        return self.log.read_text("utf-8", errors="replace").splitlines()

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            return
