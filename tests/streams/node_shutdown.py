"""A shutdown of the node as the kubelet sees it: logind announces it, and waits until the kubelet lets go."""

import dataclasses
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sandbox import Sandbox
from sandbox.settings import PRIVATE_FOLDERS

_PROGRAM = Path(__file__).with_name("played_logind.py")
_SOCKET = "/run/dbus/system_bus_socket"


@dataclass
class NodeShutdown:
    """The machine's side of it. `said` is what the player of logind printed."""

    player: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)
    _reader: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._reader = threading.Thread(target=self._read, name="logind", daemon=True)
        self._reader.start()

    def announce(self, *, now: bool) -> None:
        """Say that the machine is about to be shut down, or that it is not after all."""
        assert self.player.stdin is not None
        self.player.stdin.write(f"{now}\n".lower())
        self.player.stdin.flush()

    def end(self) -> None:
        """Nobody plays logind any more: the player ends with its input."""
        assert self.player.stdin is not None
        assert self.player.stdout is not None
        self.player.stdin.close()
        self.player.wait(10)
        self._reader.join()
        self.player.stdout.close()

    def _read(self) -> None:
        assert self.player.stdout is not None
        self.said.extend(line.strip() for line in self.player.stdout)


@contextmanager
def node_shutdown(box: Sandbox, seconds: int) -> Iterator[NodeShutdown]:
    """A node whose kubelet takes part in shutdowns, giving pods so many seconds; afterwards it is as it was."""
    assert not Path(sys.executable).is_relative_to(PRIVATE_FOLDERS[0]), "the node sees another /run"
    command = box.cell().command(sys.executable, "-I", _PROGRAM, _SOCKET)
    player = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
    shutdown = NodeShutdown(player)
    try:
        Sandbox(dataclasses.replace(box.spec, shutdown_seconds=seconds)).up()
        yield shutdown
    finally:
        box.up()
        shutdown.end()
