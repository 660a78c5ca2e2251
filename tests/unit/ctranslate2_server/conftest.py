"""The tiny model in CTranslate2's format, and the real server on it as a process of its own."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.tiny_ctranslate2 import write_tiny_ctranslate2
from tests.ports import free_port

PACKAGE = Path(__file__).parents[3] / "images/ctranslate2"


@dataclass
class Server:
    """A server process and its log."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def terminate(self) -> None:
        """What the kubelet does."""
        self.process.send_signal(signal.SIGTERM)

    def wait_ready(self) -> None:
        """Until /health answers 200."""
        deadline = time.monotonic() + 60
        while not self._is_ready():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.1)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=5) as answer:  # noqa: S310  (ours)
                return bool(answer.status == 200)
        except urllib.error.URLError:
            return False


Start = Callable[..., Server]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    write_tiny_ctranslate2(folder)
    return folder


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start servers, which end with the test."""
    started: list[Server] = []

    def begin(*arguments: str | Path) -> Server:
        port, log = free_port(), tmp_path / f"{len(started)}.log"
        command = [sys.executable, "-m", "ctranslate2_server", *map(str, arguments), "--port", str(port)]
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "OMP_NUM_THREADS": "1"}
        with log.open("wb") as file:
            process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)  # noqa: S603  (ours)
        started.append(Server(process, f"http://127.0.0.1:{port}", log))
        return started[-1]

    yield begin
    for server in started:
        server.process.kill()
        server.process.wait()
