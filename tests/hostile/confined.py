"""The operator as it is installed, as a process: with the rights of its service account, in the memory of its pod."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from sandbox import cgroups
from tests.cluster.kube import Kube

ROOT = Path(__file__).parents[2]
SYSTEM = "llmservice-system"
ACCOUNT = "llmservice-operator"
MEMORY_MIB = 512
_IS_PLAYED = frozenset({"Deployment", "PodDisruptionBudget", "CustomResourceDefinition"})
"""What of an installation is left out: the process stands for it, or the tests have made it."""
_JOIN = (
    "import os, sys; open(sys.argv[1], 'w').write(str(os.getpid())); "
    "os.execv(sys.executable, [sys.executable, '-m', 'llmservice', 'run'])"
)


@dataclass(frozen=True, slots=True)
class Cgroup:
    """A cgroup with a bound on memory, on version 1 or 2."""

    folder: Path

    @property
    def command(self) -> tuple[str, ...]:
        """Arguments for Python: become the operator, within this group."""
        return ("-c", _JOIN, str(self.folder / "cgroup.procs"))

    @property
    def kills(self) -> int:
        """How many processes the kernel has ended here for want of memory."""
        for name in ("memory.events", "memory.oom_control"):
            if (self.folder / name).exists():
                rows = dict(line.split() for line in (self.folder / name).read_text().splitlines())
                return int(rows.get("oom_kill", 0))
        return 0


@contextmanager
def memory_cgroup(name: str) -> Iterator[Cgroup]:
    """The group as long as the block runs, with as much memory as the pod of the operator has."""
    cgroups.create(name)
    try:
        one_tree = (cgroups.ROOT / "cgroup.controllers").exists()
        folder = cgroups.ROOT / name if one_tree else cgroups.ROOT / "memory" / name
        limits = ("memory.max", "memory.swap.max") if one_tree else ("memory.limit_in_bytes",)
        for limit, amount in zip(limits, (MEMORY_MIB * 2**20, 0), strict=False):
            if (folder / limit).exists():
                (folder / limit).write_text(str(amount))
        yield Cgroup(folder)
    finally:
        cgroups.remove(name)


@contextmanager
def installed(kube: Kube, folder: Path) -> Iterator[Path]:
    """Roles, bindings and policies as they are shipped; yields the operator's kubeconfig."""
    rendered = yaml.safe_load_all(kube.kubectl("kustomize", str(ROOT / "manifests" / "overlays" / "cluster")))
    bodies = yaml.safe_dump_all([body for body in rendered if body and body["kind"] not in _IS_PLAYED])
    _wait_for_an_end(kube)
    kube.kubectl("apply", "--server-side", "-f", "-", stdin=bodies)
    try:
        path = folder / "operator.kubeconfig"
        path.write_text(json.dumps(_kubeconfig(kube, _token(kube))))
        yield path
    finally:
        kube.kubectl("delete", "--ignore-not-found", "--wait=false", "-f", "-", stdin=bodies)


def _wait_for_an_end(kube: Kube) -> None:
    """Until the namespace of the last installation is gone, where it is going."""
    namespace = f"namespace/{SYSTEM}"
    if kube.kubectl("get", namespace, "--ignore-not-found", "-o", "jsonpath={.status.phase}") == "Terminating":
        kube.kubectl("wait", "--for=delete", namespace, "--timeout=60s")


def _token(kube: Kube) -> str:
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}
    path = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts/{ACCOUNT}/token"
    return str(kube.request("POST", path, request)["status"]["token"])


def _kubeconfig(kube: Kube, token: str) -> dict[str, object]:
    cluster = json.loads(kube.kubectl("config", "view", "--raw", "--minify", "-o", "json"))["clusters"][0]
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [cluster],
        "users": [{"name": ACCOUNT, "user": {"token": token}}],
        "contexts": [{"name": ACCOUNT, "context": {"cluster": cluster["name"], "user": ACCOUNT}}],
        "current-context": ACCOUNT,
    }
