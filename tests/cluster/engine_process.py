"""The engine of a pod as a process of this machine, which is the sandbox's node."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from tests.cluster.kube import Body


def engine_process(pod: Body) -> int:
    """The engine's process as the node sees it."""
    uid = pod["metadata"]["uid"]
    spellings = (uid, uid.replace("-", "_"))
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            groups, command = (folder / "cgroup").read_text(), (folder / "cmdline").read_bytes()
            if any(spelling in groups for spelling in spellings) and b"llama-server" in command:
                return int(folder.name)
    raise AssertionError(f"no llama-server runs in pod {uid}")


@contextlib.contextmanager
def engine_stopped(pod: Body) -> Iterator[None]:
    """All of the engine's process stands still while the block runs."""
    process = engine_process(pod)
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)
