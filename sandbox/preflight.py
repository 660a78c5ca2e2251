"""What the machine must have, checked before anything is begun; each finding says how to mend it."""

import os
import platform
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.commands import follow, run
from sandbox.errors import SandboxError
from sandbox.node import CNI_PLUGINS
from sandbox.progress import Progress

# A file or program that shows a package is there → the Debian package.
RUNNING = {
    "containerd": "containerd",
    "runc": "runc",
    f"{CNI_PLUGINS}/bridge": "containernetworking-plugins",
    "iptables": "iptables",
    "ip": "iproute2",
    "conntrack": "conntrack",
    "openssl": "openssl",
    "curl": "curl",
    "nsenter": "util-linux",
    "mount": "mount",
}
BUILDING = {"cmake": "cmake", "ninja": "ninja-build", "g++": "g++", "strip": "binutils", "curl": "curl"}
TESTING = {"prometheus": "prometheus", "haproxy": "haproxy"}
CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}  # bit numbers of <linux/capability.h>
GO_MINOR = 24  # Kubernetes 1.34 needs Go 1.24


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What is known of a machine. `has` takes a program's name or a path; `capabilities` are the effective ones."""

    system: str
    user_id: int
    capabilities: int
    go_version: str
    has: Callable[[str], bool]
    filters_bridges: bool


def this_machine() -> Machine:
    """Look at the machine we are on."""
    go = run(["go", "env", "GOVERSION"]).strip() if shutil.which("go") else ""
    status = Path("/proc/self/status")
    found = re.search(r"^CapEff:\s*(\w+)$", status.read_text(), re.MULTILINE) if status.exists() else None
    return Machine(
        system=platform.system(),
        user_id=os.getuid(),
        capabilities=int(found[1], 16) if found else 0,
        go_version=go,
        filters_bridges=Path("/proc/sys/net/bridge").exists(),
        has=lambda name: Path(name).exists() if name.startswith("/") else shutil.which(name) is not None,
    )


def findings(machine: Machine, *, building: bool) -> list[str]:
    """What is in the way, one sentence each; empty when nothing is."""
    if machine.system != "Linux":
        return [f"{machine.system} cannot run containers itself: use a Linux machine or virtual machine"]
    found = []
    if building:
        found += _go_findings(machine)
    else:
        found += _rights_findings(machine)
    missing = missing_packages(machine, BUILDING if building else RUNNING)
    if missing:
        found.append(
            f"missing Debian packages: apt-get install {' '.join(missing)}, or python -m sandbox preflight --install"
        )
    return found


def missing_packages(machine: Machine, wanted: Mapping[str, str]) -> list[str]:
    """Debian packages to install, sorted."""
    return sorted({package for name, package in wanted.items() if not machine.has(name)})


def check_machine(*, building: bool) -> None:
    """Raise SandboxError with everything that is in the way."""
    found = findings(this_machine(), building=building)
    if found:
        raise SandboxError("this machine is not ready:\n" + "\n".join(f"  - {finding}" for finding in found))


def install_packages(progress: Progress, *, for_tests: bool = False) -> list[str]:
    """Install the missing Debian packages, those that only the project's tests use if asked for; their names."""
    machine = this_machine()
    missing = missing_packages(machine, RUNNING | BUILDING | (TESTING if for_tests else {}))
    if not missing:
        return []
    if machine.user_id != 0 or not machine.has("apt-get"):
        raise SandboxError(f"installing needs root and apt-get; install these by other means: {' '.join(missing)}")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    with progress.step(f"Install {' '.join(missing)}") as say:
        follow(["apt-get", "update"], say, environment=quiet)
        follow(["apt-get", "install", "--yes", "--no-install-recommends", *missing], say, environment=quiet)
    return missing


def _rights_findings(machine: Machine) -> list[str]:
    if machine.user_id != 0:
        return ["not root: namespaces, mounts and interfaces need it; run it with sudo, or in a virtual machine"]
    missing = [name for name, bit in CAPABILITIES.items() if not machine.capabilities >> bit & 1]
    if missing:
        return [f"root without {', '.join(missing)}: start the surrounding container with --privileged"]
    if not machine.filters_bridges:
        return ["kernel module br_netfilter is not loaded, so Services would not answer pods: modprobe br_netfilter"]
    return []


def _go_findings(machine: Machine) -> list[str]:
    way_out = f"install Go 1.{GO_MINOR} or newer (https://go.dev/doc/install) and put its bin folder on PATH"
    if not machine.go_version:
        return [f"no Go: {way_out}"]
    found = re.match(r"go1\.(\d+)", machine.go_version)
    if found and int(found[1]) < GO_MINOR:
        return [f"{machine.go_version} is too old for Kubernetes: {way_out}"]
    return []
