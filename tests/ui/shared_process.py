"""`llmservice serve-ui` as a process of its own, before the API server of a kubeconfig."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ui.page_process import environment


@contextmanager
def serving_all(kubeconfig: Path) -> Iterator[str]:
    """Its address, as long as the block runs; the certificate is its own."""
    server = json.loads(kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    command = [sys.executable, "-m", "llmservice", "serve-ui", "--port=0", f"--api-server={server}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(kubeconfig)) as process:  # noqa: S603
        try:
            assert process.stderr is not None
            yield process.stderr.readline().split()[0]
        finally:
            process.terminate()
            assert process.wait(timeout=20) == 0
