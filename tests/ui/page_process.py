"""`llmservice ui` as a process of its own, as people start it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(kubeconfig: Path, *options: str) -> Iterator[str]:
    """The address that it printed, as long as the block runs."""
    command = [sys.executable, "-m", "llmservice", "ui", "--no-browser", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(kubeconfig)) as process:  # noqa: S603
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait(timeout=10)


def environment(kubeconfig: Path) -> dict[str, str]:
    """The variables of this process, with this kubeconfig."""
    return {**os.environ, "KUBECONFIG": str(kubeconfig), "PYTHONUNBUFFERED": "1"}
