"""The operator as a process beside the cluster, known by pid and start time."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from sandbox import Sandbox, SandboxError
from sandbox.processes import ProcessIdentity

_STOP_SECONDS = 20.0


def start_operator(box: Sandbox) -> Path:
    """Start it unless it runs; returns its log."""
    folder = box.kubeconfig.parent
    record, log = folder / "operator.json", folder / "operator.log"
    known = ProcessIdentity.load(record)
    if known is not None and known.is_running():
        return log
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "llmservice", "run"],
            env={**os.environ, "KUBECONFIG": str(box.kubeconfig)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    identity = ProcessIdentity.of(process.pid)
    if identity is None:
        raise SandboxError(f"the operator ended at once; see {log}")
    identity.save(record)
    return log


def operator_runs(box: Sandbox) -> bool:
    """Whether the process that was started still runs."""
    known = ProcessIdentity.load(box.kubeconfig.parent / "operator.json")
    return known is not None and known.is_running()


def stop_operator(box: Sandbox) -> None:
    """Stop exactly the process that was started."""
    known = ProcessIdentity.load(box.kubeconfig.parent / "operator.json")
    if known is not None and known.is_running() and not known.stop(signal.SIGTERM, _STOP_SECONDS):
        known.stop(signal.SIGKILL, _STOP_SECONDS)
