"""The program that makes a cell's namespaces, or starts another program in them. It imports nothing of the package.

    namespaces.py new HOSTNAME SOURCE=TARGET…       become the first process of new namespaces
    namespaces.py enter INIT_PID LOG PROGRAM ARG…   start PROGRAM in the namespaces of INIT_PID and leave it running

Both print a pid as the host sees it and then wait for a line on standard input, so that the pid is on record before
anything happens; end of file instead means that the caller died, and then nothing does happen. `new` mounts each host
folder SOURCE at TARGET inside, prints `ready`, and from then on only buries orphans.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

KINDS = {  # names under /proc/PID/ns, flags of <linux/sched.h> for unshare(2) and setns(2)
    "mnt": 0x00020000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}
PRIVATE_FOLDERS = ("/run", "/var/lib", "/var/log")  # where Kubernetes and containerd have fixed paths
_libc = ctypes.CDLL(None, use_errno=True)


def new(hostname: str, *binds: str) -> None:
    """Leave every namespace for a new one; the child, first in the new pid namespace, holds them all."""
    _check(_libc.unshare(sum(KINDS.values())))
    if _print_child(os.fork()):
        return
    _await_caller()
    socket.sethostname(hostname)
    _mount(binds)
    print("ready", flush=True)
    _detach(os.open(os.devnull, os.O_WRONLY))
    _bury_orphans()


def enter(init_pid: str, log: str, *argv: str) -> None:
    """Run a program inside, detached, its output appended to the host's file `log`."""
    handles = {kind: os.open(f"/proc/{init_pid}/ns/{kind}", os.O_RDONLY) for kind in KINDS}
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    _check(_libc.setns(handles.pop("pid"), KINDS["pid"]))  # it is the next child that enters a pid namespace
    if _print_child(os.fork()):
        return
    for kind, handle in handles.items():
        _check(_libc.setns(handle, KINDS[kind]))
    _await_caller()
    _detach(output)
    os.execvp(argv[0], argv)  # noqa: S606 - no shell is wanted


def _print_child(child: int) -> int:
    if child:
        print(child, flush=True)
    return child


def _await_caller() -> None:
    if not sys.stdin.readline():
        sys.exit("the caller is gone")


def _mount(binds: tuple[str, ...]) -> None:
    # Private: nothing mounted here reaches the host. Then shared: pods may ask for mount propagation among themselves.
    for propagation in ("--make-rprivate", "--make-rshared"):
        subprocess.check_call(["mount", propagation, "/"])
    subprocess.check_call(["mount", "-t", "proc", "proc", "/proc"])
    for folder in PRIVATE_FOLDERS:
        subprocess.check_call(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", folder])
    for bind in binds:
        source, target = bind.split("=", 1)
        Path(target).mkdir(parents=True, exist_ok=True)
        subprocess.check_call(["mount", "--bind", source, target])


def _detach(output: int) -> None:
    os.setsid()
    os.chdir("/")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))


def _bury_orphans() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            pass
        signal.sigwait({signal.SIGCHLD})


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    verb = new if sys.argv[1] == "new" else enter
    verb(*sys.argv[2:])
