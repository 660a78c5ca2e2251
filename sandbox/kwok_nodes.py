"""Nodes that do not exist, with KWOK in the place of their kubelets, for clusters larger than the machine.

Beside them runs the real control plane. Only the scale bench builds this; a plain sandbox is up without it.
"""

import re
import shutil
from pathlib import Path
from signal import SIGTERM
from typing import Any

from sandbox.api_client import ApiClient
from sandbox.build_kubernetes import ENVIRONMENT
from sandbox.cache import Build, Recipe, cache_folder
from sandbox.commands import follow
from sandbox.components import Component, Journal
from sandbox.errors import SandboxError
from sandbox.node_resources import NODE_PATH
from sandbox.progress import Progress, Say
from sandbox.sandbox import Sandbox
from sandbox.supervision import STOP_SECONDS, ensure_running, wait_healthy
from sandbox.waiting import wait_until

MODULE = Path(__file__).parent / "kwok"
PACKAGE = "sigs.k8s.io/kwok/cmd/kwok"
LABEL = "type=kwok"
HEALTH = "127.0.0.1:10247"
POD_ADDRESSES = "198.18.0.0/15"  # RFC 2544: for benchmarks, routed nowhere
PODS_PER_NODE = 110
AMOUNTS = {"cpu": "10k", "memory": "100Ti", "pods": str(PODS_PER_NODE), "nvidia.com/gpu": "1000"}
GPU_LABELS = {"nvidia.com/gpu.product": "NVIDIA-L4", "nvidia.com/gpu.present": "true"}


def kwok_build() -> Build:
    """The program `kwok` in one folder. Cold caches: 80 seconds on two cores."""
    module = {name: (MODULE / name).read_bytes() for name in ("go.mod", "go.sum")}
    version = kwok_version(module["go.mod"].decode())
    recipe = Recipe(name="kwok", version=version, inputs=module | {"package": PACKAGE.encode()})
    return Build(recipe=recipe, title=f"Build KWOK {version}", make=_make)


def kwok_version(go_mod: str) -> str:
    """The version a go.mod requires, `v0.7.0`."""
    found = re.search(r"^require sigs\.k8s\.io/kwok (v[\d.]+)$", go_mod, re.MULTILINE)
    if found is None:
        raise ValueError("go.mod: no line `require sigs.k8s.io/kwok vX.Y.Z`")
    return found[1]


def ensure_kwok_nodes(box: Sandbox, pods: int) -> None:
    """Give a sandbox that is up nodes for so many pods; from then on the real node takes none.

    kube-proxy stops: it would rewrite the rules of all Services for addresses that do not exist.
    """
    program = kwok_build().ensure(cache_folder(), Progress()) / "kwok"
    journal = Journal(folder=box.spec.folder)
    proxy = journal.running("kube-proxy")
    if proxy and not proxy.stop(SIGTERM, STOP_SECONDS):
        raise SandboxError("kube-proxy does not end: `down` and `up` the sandbox, then try again")
    component = _component(box, program)
    ensure_running(box.cell(), journal, component)
    wait_healthy(box.cell(), journal, component)
    api = box.api()
    api.patch(NODE_PATH, {"spec": {"unschedulable": True}})
    for number in range(-(-pods // PODS_PER_NODE)):
        _ensure_node(api, number)


def _ensure_node(api: ApiClient, number: int) -> None:
    path = f"/api/v1/nodes/kwok-{number}"
    if api.get(path) is None:
        api.apply(path, _node(number))
        api.patch(f"{path}/status", {"status": {"capacity": AMOUNTS, "allocatable": AMOUNTS}})
    wait_until(lambda: _takes_pods(api.get(path)), f"{path} ready", timeout_seconds=60)


def _make(work: Path, output: Path, say: Say) -> None:
    shutil.copytree(MODULE, work, dirs_exist_ok=True)
    follow(
        ["go", "build", "-trimpath", "-ldflags", "-s -w", "-o", f"{output}/", PACKAGE],
        say,
        cwd=work,
        environment=ENVIRONMENT,
    )


def _component(box: Sandbox, program: Path) -> Component:
    flags = {
        "kubeconfig": box.kubeconfig,
        "config": MODULE / "stages.yaml",
        "manage-nodes-with-label-selector": LABEL,
        "node-lease-duration-seconds": 40,
        "cidr": POD_ADDRESSES,
        "server-address": HEALTH,
        "v": "WARN",
    }
    argv = (str(program), *(f"--{name}={value}" for name, value in flags.items()))
    return Component(name="kwok", argv=argv, health_url=f"http://{HEALTH}/healthz", files=(MODULE / "stages.yaml",))


def _node(number: int) -> dict[str, Any]:
    key, value = LABEL.split("=")
    labels = {key: value, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", **GPU_LABELS}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"kwok-{number}", "labels": labels}}


def _takes_pods(node: dict[str, Any] | None) -> bool:
    """Ready, and the taint of its beginning is gone."""
    conditions = (node or {}).get("status", {}).get("conditions") or ()
    ready = any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
    return ready and not (node or {}).get("spec", {}).get("taints")
