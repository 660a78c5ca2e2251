"""What etcd holds, saved and put back: a disaster drill. Afterwards resource versions begin at the saved one again."""

import shutil
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP

from sandbox.components import Journal
from sandbox.errors import SandboxError
from sandbox.settings import SandboxSpec

_SECONDS = 15
_RESTARTED = ("kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kube-apiserver", "etcd")
"""All that has read from etcd: Kubernetes asks for their restart after a restore."""


def save(spec: SandboxSpec, target: Path) -> None:
    """Copy etcd's data into a folder that does not exist yet. etcd stands still meanwhile: some milliseconds."""
    etcd = Journal(folder=spec.folder).running("etcd")
    if etcd is None:
        raise SandboxError(f"sandbox {spec.name!r} runs no etcd: start it with `up`")
    etcd.send(SIGSTOP)
    try:
        shutil.copytree(spec.folder / "etcd", target)
    finally:
        etcd.send(SIGCONT)


def restore(spec: SandboxSpec, source: Path) -> None:
    """Stop the control plane and put saved data in place of etcd's; `start` goes on from there."""
    if not (source / "member").is_dir():
        raise SandboxError(f"{source} holds no data of etcd: name a folder that was saved before")
    journal = Journal(folder=spec.folder)
    for name in _RESTARTED:
        running = journal.running(name)
        if running is not None:
            running.stop(SIGKILL, _SECONDS)
    shutil.rmtree(spec.folder / "etcd")
    shutil.copytree(source, spec.folder / "etcd")
