"""Which process is meant: a pid alone is reused by the kernel, so nothing is ever signalled by pid alone."""

import json
import os
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from sandbox.files import write

PROC = Path("/proc")
DEAD_STATES = "ZX"
STATE, START_TICKS = 0, 19  # fields 3 and 22 of /proc/PID/stat, counted after the name; see proc(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIdentity:
    """A process for all time: its pid, when it started (clock ticks since boot), and which boot that was."""

    pid: int
    start_ticks: int
    boot_id: str

    @classmethod
    def of(cls, pid: int, proc: Path = PROC) -> Self | None:
        """The process that has this pid now; None when there is none or only its zombie is left."""
        try:
            fields = (proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return None
        if fields[STATE] in DEAD_STATES:
            return None
        return cls(pid=pid, start_ticks=int(fields[START_TICKS]), boot_id=this_boot(proc))

    @classmethod
    def load(cls, record: Path) -> Self | None:
        """The identity a record file holds; None when the file is missing or was cut short."""
        try:
            content = json.loads(record.read_text())
            return cls(pid=content["pid"], start_ticks=content["start_ticks"], boot_id=content["boot_id"])
        except (FileNotFoundError, ValueError, KeyError):
            return None

    def save(self, record: Path, **more: str) -> None:
        """Write the record, whole or not at all."""
        write(record, json.dumps(asdict(self) | more))

    def is_running(self, proc: Path = PROC) -> bool:
        """Whether this very process still runs, not another one with its pid."""
        return self.of(self.pid, proc) == self

    def uptime_seconds(self) -> float:
        """Seconds since the process started."""
        return time.clock_gettime(time.CLOCK_BOOTTIME) - self.start_ticks / os.sysconf("SC_CLK_TCK")

    def stop(self, number: signal.Signals, timeout_seconds: float) -> bool:
        """Signal this very process and wait for its end; True when it is gone."""
        self.send(number)
        deadline = time.monotonic() + timeout_seconds
        while self.is_running() and time.monotonic() < deadline:
            time.sleep(0.02)
        return not self.is_running()

    def send(self, number: signal.Signals) -> None:
        """Signal this very process, if it still runs."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            # The handle pins the process: checked now, it cannot become another one before the signal.
            if self.is_running():
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def this_boot(proc: Path = PROC) -> str:
    """The kernel's name for the time since the machine was started."""
    return (proc / "sys/kernel/random/boot_id").read_text().strip()
