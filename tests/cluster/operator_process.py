"""The operator as a process beside the cluster."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]
_READY_LINE = "workers start"


@dataclass
class Operator:
    """The operator as a process, its log in a file."""

    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    command: tuple[str, ...] = ("-m", "llmservice", "run")

    def start(self) -> None:
        """Start it and wait until it works; its log goes on in the same file."""
        ready = self._log().count(_READY_LINE)
        environment = {**os.environ, **self.environment, "PYTHONPATH": f"{ROOT / 'operator'}:{ROOT}"}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([sys.executable, *self.command], env=environment, stdout=log, stderr=log)  # noqa: S603
        deadline = time.monotonic() + 60
        while self._log().count(_READY_LINE) == ready:
            assert self.process.poll() is None, self._log()[-4000:]
            assert time.monotonic() < deadline, self._log()[-4000:]
            time.sleep(0.05)

    def stop(self) -> None:
        """SIGTERM, as the kubelet does; fails when it does not end by itself."""
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            assert self.process.wait(30) == 0, self._log()[-4000:]
            self.process = None

    @contextmanager
    def running(self) -> Iterator[Self]:
        """Runs while the block lasts; at its end it still does, ends when it is asked to, and has logged no defect."""
        self.start()
        try:
            yield self
            still_runs = self.process is not None and self.process.poll() is None
        finally:
            self.stop()
        assert still_runs, self._log()[-4000:]
        assert "Traceback" not in self._log(), self._log()[-8000:]

    @contextmanager
    def told(self, **variables: str) -> Iterator[Self]:
        """Runs with these variables, too, while the block lasts, and as before afterwards."""
        before = self.environment
        self._restart({**before, **variables})
        try:
            yield self
        finally:
            self._restart(before)

    def _restart(self, environment: dict[str, str]) -> None:
        self.stop()
        self.environment = environment
        self.start()

    def _log(self) -> str:
        return self.log.read_text() if self.log.exists() else ""
