"""What one sandbox is: its name, and every address and folder that follows from it.

Sandboxes run side by side, so nothing here is a fixed port or interface. Each has network namespaces of its own, where
the usual ports are free, and one /16 of addresses that the host routes into it.

    10.N.0.0/17      pods          N = 64 + index, index 0-127 from the name
    10.N.128.0/18    Services
    10.N.255.0/30    the link: .1 is the host, .2 is the node
"""

import re
from binascii import crc32
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from sandbox.errors import SandboxError

NODE = "node1"
NAME_PATTERN = re.compile(r"[a-z]([-a-z0-9]{0,18}[a-z0-9])?")
INDEX_OF_KNOWN_NAMES = {"default": 0, "test": 1, "demo": 2, "bench": 3, "trial": 4}
INDEXES = 128
# Fixed paths of Kubernetes and containerd: inside a sandbox these are its own, so the host's are out of its sight.
PRIVATE_FOLDERS = ("/run", "/var/run", "/var/lib", "/var/log")


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """The addresses of the sandbox with this index (0-127)."""

    index: int

    @property
    def all(self) -> IPv4Network:
        """The /16 that the host routes into the sandbox."""
        return IPv4Network(f"10.{64 + self.index}.0.0/16")

    @property
    def pods(self) -> IPv4Network:
        """Pod addresses, 32 thousand of them."""
        return next(self.all.subnets(new_prefix=17))

    @property
    def services(self) -> IPv4Network:
        """Addresses of Services; the first is the API server's own."""
        return list(self.all.subnets(new_prefix=18))[2]

    @property
    def link(self) -> IPv4Network:
        """The two-address network between host and node."""
        return IPv4Network(f"{self.all.network_address + 255 * 256}/30")

    @property
    def host(self) -> IPv4Address:
        """The host, as pods and the node see it."""
        return self.link.network_address + 1

    @property
    def node(self) -> IPv4Address:
        """The node and its API server, as the host sees them."""
        return self.link.network_address + 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """One sandbox. `cache` is the user cache folder, `gpus` the devices to advertise when it starts.

    `audit_log` is where the API server writes one JSON line per request, with the user and what was asked.
    `shutdown_seconds` are those that the kubelet gives pods when the node is shut down; it hears of that on the message
    bus of a logind, which somebody must play, so it is off unless asked for.
    """

    name: str
    cache: Path
    gpus: int = 4
    audit_log: Path | None = None
    shutdown_seconds: int = 0

    def __post_init__(self) -> None:
        if not NAME_PATTERN.fullmatch(self.name):
            raise SandboxError(f"--name {self.name!r}: use 1 to 20 lower-case letters, digits and '-', a letter first")
        if self.gpus < 0:
            raise SandboxError(f"--gpus {self.gpus}: use 0 or more")
        _refuse_hidden(self.cache, "LLMSERVICE_CACHE")
        if self.audit_log:
            _refuse_hidden(self.audit_log, "--audit-log")

    @property
    def folder(self) -> Path:
        """Everything of the running sandbox, and nothing else."""
        return self.cache / "sandboxes" / self.name

    @property
    def models(self) -> Path:
        """What model volumes show to pods."""
        return self.folder / "models"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's credentials, readable by the host."""
        return self.folder / "kubeconfig"

    @property
    def server(self) -> str:
        """The API server's URL as seen from the host."""
        return f"https://{self.addresses.node}:6443"

    @property
    def index(self) -> int:
        """A number for the name: fixed for the names the project uses, hashed for others."""
        if self.name in INDEX_OF_KNOWN_NAMES:
            return INDEX_OF_KNOWN_NAMES[self.name]
        known = len(INDEX_OF_KNOWN_NAMES)
        return known + crc32(self.name.encode()) % (INDEXES - known)

    @property
    def addresses(self) -> Addresses:
        """Where the sandbox lives in the host's routing table."""
        return Addresses(index=self.index)

    @property
    def host_interface(self) -> str:
        """The host's end of the link."""
        return f"llmsandbox{self.index}"

    @property
    def cgroup(self) -> str:
        """The parent of all pod cgroups: two kubelets under one parent would delete each other's pods."""
        return f"llmservice-sandbox-{self.name}"


def _refuse_hidden(path: Path, setting: str) -> None:
    if any(path.is_relative_to(folder) for folder in PRIVATE_FOLDERS):
        raise SandboxError(f"{setting} {path}: a sandbox cannot see the host's {', '.join(PRIVATE_FOLDERS)}; move it")
