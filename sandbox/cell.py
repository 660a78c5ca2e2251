"""The cell: one set of Linux namespaces per sandbox (mount, network, pid, host name, IPC), held by its first process.

Why: kube-proxy's iptables chains, the CNI bridge, `/run/netns`, `/var/lib/cni`, kubelet's device-plugin socket and
containerd's shims are all global to their namespace, so two sandboxes in one would overwrite each other, and each of
these would have to be hunted down after a crash. In a cell the kernel does it: when the first process goes, every
process, mount, interface, route, rule and connection-tracking entry of the sandbox goes with it.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from typing import IO

from sandbox.errors import SandboxError
from sandbox.processes import ProcessIdentity
from sandbox.settings import NODE, SandboxSpec

PROGRAM = Path(__file__).with_name("namespaces.py")
RECORD = "cell.json"
# Folder of the sandbox → where the programs inside expect it.
BINDS = {
    "containerd": "/var/lib/containerd",
    "kubelet": "/var/lib/kubelet",
    "cni": "/var/lib/cni",
    "pod-logs": "/var/log/pods",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A running cell."""

    init: ProcessIdentity

    @classmethod
    def find(cls, spec: SandboxSpec) -> "Cell | None":
        """The cell of this sandbox, if its first process lives and still has its namespaces."""
        init = ProcessIdentity.load(spec.folder / RECORD)
        if init is None or not init.is_running():
            return None
        try:
            Path(f"/proc/{init.pid}/ns/net").readlink()
        except OSError:  # it is ending: it waits for the other processes inside, which may take a second
            return None
        return cls(init=init)

    @staticmethod
    def end_any(spec: SandboxSpec) -> bool:
        """End every process of this sandbox at once; False when there was none.

        With the processes goes all that the namespaces held. A cell that is ending already is waited for, and one whose
        record was deleted is found by the folders that its first process was told to mount.
        """
        recorded = ProcessIdentity.load(spec.folder / RECORD)
        living = {init for init in (recorded, *_holders(spec)) if init and init.is_running()}
        for init in living:
            if not init.stop(SIGKILL, timeout_seconds=30):
                raise SandboxError(f"process {init.pid} does not end: see /proc/{init.pid}/stack, then try again")
        return bool(living)

    @classmethod
    def start(cls, spec: SandboxSpec) -> "Cell":
        """Make the namespaces; SandboxError when the kernel refuses."""
        for name in BINDS:
            (spec.folder / name).mkdir(parents=True, exist_ok=True)
        with _run("new", NODE, *_binds(spec)) as script:
            init = _identified(script)
            init.save(spec.folder / RECORD)
            _stdin(script).write("go\n")
            _stdin(script).flush()
            if _stdout(script).readline() != "ready\n":
                init.stop(SIGKILL, timeout_seconds=5)
                raise SandboxError(f"the kernel refused the cell's mounts: {_last_words(script)}")
        return cls(init=init)

    def command(self, *argv: str | Path) -> list[str]:
        """The command line that runs a program inside the cell and waits for it."""
        entered = ["nsenter", "--target", str(self.init.pid), "--mount", "--net", "--uts", "--ipc", "--pid", "--wd=/"]
        return [*entered, "--", *map(str, argv)]

    def start_program(self, argv: list[str], *, log: Path, record: Path, **noted: str) -> ProcessIdentity:
        """Start a program inside and leave it running; it is on record, with the notes, before it does anything."""
        with _run("enter", str(self.init.pid), str(log), *argv) as script:
            program = _identified(script)
            program.save(record, **noted)
            _stdin(script).write("go\n")
        return program


def _binds(spec: SandboxSpec) -> list[str]:
    return [f"{spec.folder / name}={target}" for name, target in BINDS.items()]


def _holders(spec: SandboxSpec) -> list[ProcessIdentity]:
    command = "\0".join([str(PROGRAM), "new", NODE, *_binds(spec)]).encode() + b"\0"
    holders = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes().endswith(command):
                holders.append(ProcessIdentity.of(int(process.name)))
        except OSError:
            continue  # it ended while we looked
    return [holder for holder in holders if holder]


def _run(verb: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", PROGRAM, verb, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _identified(script: subprocess.Popen[str]) -> ProcessIdentity:
    line = _stdout(script).readline()
    identity = ProcessIdentity.of(int(line)) if line.strip() else None
    if identity is None:
        raise SandboxError(f"no new namespaces here (CAP_SYS_ADMIN?): {_last_words(script)}")
    return identity


def _last_words(script: subprocess.Popen[str]) -> str:
    _, stderr = script.communicate()
    return stderr.strip().rpartition("\n")[2]


def _stdin(script: subprocess.Popen[str]) -> IO[str]:
    assert script.stdin is not None  # noqa: S101 - asked for a pipe
    return script.stdin


def _stdout(script: subprocess.Popen[str]) -> IO[str]:
    assert script.stdout is not None  # noqa: S101 - asked for a pipe
    return script.stdout
