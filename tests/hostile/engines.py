"""The hostile pods' engines, all in one process of their own: `python -m tests.hostile.engines SEED`.

Addresses are of 127.66.0.0/16, which every Linux has on loopback. Each line on standard input, `ADDRESS ANSWER`, lets
an engine of this answer listen there, on the port of all engines; the address is printed once it does. A line `?` asks
how often the operator asked each address since the start: one line of JSON.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from llmservice.engines.engine import PORT
from tests.hostile.answers import answer_named

_OPERATOR = b"User-Agent: llmservice-operator/"


@dataclass(slots=True)
class Engines:
    """The process, from outside. Safe for use by several threads."""

    process: subprocess.Popen[str]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _given: int = 0

    def listen(self, answer: str) -> str:
        """Let a new engine listen; its address."""
        with self._lock:
            self._given += 1
            address = f"127.66.{self._given // 250}.{self._given % 250 + 1}"
            assert self._ask(f"{address} {answer}") == address
        return address

    def asked(self) -> Counter[str]:
        """How often the operator asked each address for its metrics; Prometheus does not count."""
        with self._lock:
            return Counter(json.loads(self._ask("?")))

    def _ask(self, line: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


@contextmanager
def engines(seed: str) -> Iterator[Engines]:
    """The process as long as the block runs."""
    command = [sys.executable, "-m", "tests.hostile.engines", seed]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]  # noqa: S603
        try:
            yield Engines(process)
        finally:
            process.kill()


async def _serve(seed: str) -> None:
    asked: Counter[str] = Counter()
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    servers = []
    while line := (await lines.readline()).decode().strip():
        if line == "?":
            print(json.dumps(asked), flush=True)  # noqa: T201
            continue
        address, answer = line.split()
        servers.append(await _listen(address, answer, seed, asked))
        print(address, flush=True)  # noqa: T201


async def _listen(address: str, name: str, seed: str, asked: Counter[str]) -> asyncio.Server:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            async with asyncio.timeout(120):
                head = await reader.readuntil(b"\r\n\r\n")
                asked[address] += _OPERATOR in head
                await answer_named(name, seed)(writer)
        writer.close()

    return await asyncio.start_server(handle, address, PORT, backlog=64)


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1]))
