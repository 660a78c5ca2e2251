"""Commands as a user types them, on a sandbox: `kubectl` and `llmservice` are found by their names."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox import Sandbox, SandboxError
from tools.website.terminal import COLUMNS, Shown

_WAIT_SECONDS = 120.0
_PATIENCE = 600.0


class Shell:
    """Runs commands in a folder; the programs of the sandbox come first in PATH."""

    def __init__(self, box: Sandbox, folder: Path) -> None:
        self.folder = folder
        programs = folder / ".programs"
        programs.mkdir()
        (programs / "kubectl").symlink_to(box.kubectl)
        (programs / "llmservice").write_text(f'#!/bin/sh\nexec {sys.executable} -m llmservice "$@"\n', "utf-8")
        (programs / "llmservice").chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"
        self._environment = {**os.environ, "PATH": path, "KUBECONFIG": str(box.kubeconfig), "COLUMNS": str(COLUMNS)}

    def run(self, command: str) -> Shown:
        """The command and what it printed, errors too; a failure of its last part ends the recording."""
        started = time.monotonic()
        done = self._bash(command)
        if done.returncode:
            raise SandboxError(f"{command}: {done.stdout}")
        return Shown(command, done.stdout, time.monotonic() - started)

    def until(self, command: str, seen: str) -> None:
        """Repeat a command, not recorded, until it prints `seen`."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while seen not in (printed := self._bash(command).stdout):
            if time.monotonic() > deadline:
                raise SandboxError(f"{command} did not print {seen} within {_WAIT_SECONDS:.0f} s: {printed}")
            time.sleep(0.5)

    @contextmanager
    def beside(self, command: str) -> Iterator[Shown]:
        """A command that runs on while others do."""
        arguments = ["bash", "-c", f"exec {command}"]
        with subprocess.Popen(  # noqa: S603  (a command of the recording)
            arguments, cwd=self.folder, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                yield Shown(f"{command} &", "", 0)
            finally:
                process.terminate()

    def _bash(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603  (a command of the recording)
            ["bash", "-c", command],  # noqa: S607
            cwd=self.folder, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", check=False, timeout=_PATIENCE,
        )  # fmt: skip
