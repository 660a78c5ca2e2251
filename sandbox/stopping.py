"""From a sandbox, or from whatever a crash left of it, to nothing."""

import shutil

from sandbox import cgroups, network
from sandbox.cell import Cell
from sandbox.settings import SandboxSpec


def stop(spec: SandboxSpec) -> bool:
    """End every process and remove every trace; False when there was nothing."""
    ended = Cell.end_any(spec)
    network.disconnect(spec)
    cgroups.remove(spec.cgroup)
    existed = spec.folder.exists()
    if existed:
        shutil.rmtree(spec.folder)
    return existed or ended
