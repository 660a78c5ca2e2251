"""The parent cgroup of a sandbox's pods, on version 1 (one tree per controller) and version 2 (one tree)."""

import time
from pathlib import Path

from sandbox.errors import SandboxError

ROOT = Path("/sys/fs/cgroup")
CONTROLLERS = "+cpu +cpuset +memory +pids"


def hierarchies(root: Path = ROOT) -> list[Path]:
    """The top folder of every cgroup tree."""
    if (root / "cgroup.controllers").exists():
        return [root]
    return sorted(path for path in root.iterdir() if (path / "cgroup.procs").exists() and not path.is_symlink())


def create(name: str, root: Path = ROOT) -> None:
    """Make the parent in every tree: kubelet refuses to start without it."""
    try:
        if (root / "cgroup.subtree_control").exists():
            (root / "cgroup.subtree_control").write_text(CONTROLLERS)
        for hierarchy in hierarchies(root):
            (hierarchy / name).mkdir(exist_ok=True)
    except OSError as err:
        raise SandboxError(f"{err}: pods need cgroups; in a container, start it with --privileged") from err


def remove(name: str, root: Path = ROOT, timeout_seconds: float = 10) -> None:
    """Remove the parent with all below; processes that just ended may hold a cgroup for a moment."""
    deadline = time.monotonic() + timeout_seconds
    for hierarchy in hierarchies(root):
        while (hierarchy / name).exists():
            try:
                _remove_tree(hierarchy / name)
            except OSError as err:
                if time.monotonic() > deadline:
                    raise SandboxError(f"cgroup {hierarchy / name} is in use: see cgroup.procs below it") from err
                time.sleep(0.05)


def _remove_tree(top: Path) -> None:
    folders = [path for path in top.rglob("*") if path.is_dir()]
    for folder in sorted(folders, key=lambda path: len(path.parts), reverse=True):
        folder.rmdir()
    top.rmdir()
