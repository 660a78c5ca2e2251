"""One replica as a process of this machine: the real Ollama, started as its container is."""

import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llmservice.catalog.loader import load_catalogue
from llmservice.engines.engine import Launch, ModelSource, ServingRequest
from llmservice.engines.ollama.engine import ENGINE
from sandbox.build_ollama import ollama_version


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """A running one. `folder` is what /cache is in its container."""

    folder: Path
    port: int
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def said(self) -> str:
        """Its log until now."""
        return self.log.read_text(errors="replace")

    def get(self, path: str) -> str:
        """The answer to a GET; raises OSError while nothing listens."""
        return self._asked("GET", path, None)

    def post(self, path: str, **body: Any) -> str:
        """The answer to a POST of JSON."""
        return self._asked("POST", path, json.dumps(body))

    def ready(self, launch: Launch, seconds: float = 30) -> None:
        """Wait until what the readiness probe expects is there."""
        self.wait(lambda: launch.probes.readiness.expects in self.get(launch.probes.readiness.path), seconds)

    def wait(self, holds: Any, seconds: float = 30) -> None:
        """Wait until something is so; an address where nothing listens yet is not."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if holds():
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise AssertionError(self.said[-4000:])

    def stop(self) -> int:
        """SIGTERM, as the kubelet sends it; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)

    def _asked(self, method: str, path: str, body: str | None) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body)
            return connection.getresponse().read().decode()
        finally:
            connection.close()


def a_launch(port: int, model: ModelSource, *names: str) -> Launch:
    """How the operator starts a replica of this model on the CPU, with four requests of 512 tokens at once."""
    version = load_catalogue().engines[ENGINE.name].versions[ollama_version()]
    return ENGINE.launch(
        ServingRequest(
            names=names or ("chat",),
            model=model,
            version=version,
            devices=0,
            max_model_len=512,
            max_num_seqs=4,
            drain_seconds=5,
            host="127.0.0.1",
            port=port,
        )
    )


@contextmanager
def replica(
    launch: Launch, folder: Path, programs: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Replica]:
    """Run one with its own folder; what of it still runs at the end is killed."""
    own = {name: value.replace("/cache", str(folder)) for name, value in launch.environment.items()}
    path = f"{programs}:{os.environ['PATH']}"
    log = folder / "log"
    with log.open("wb") as written:
        process = subprocess.Popen(  # noqa: S603
            [*launch.command, *launch.args],
            env={**own, **(environment or {}), "PATH": path},
            stdout=written,
            stderr=written,
            start_new_session=True,
        )
    port = int(launch.environment["OLLAMA_HOST"].rpartition(":")[2])
    try:
        yield Replica(folder=folder, port=port, log=log, process=process)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
