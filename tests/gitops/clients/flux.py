"""Flux beside the cluster: its real controllers as processes, and the objects by which a team uses them."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.build_flux import CONTROLLERS, CRDS, flux_build
from sandbox.cache import cache_folder
from sandbox.progress import Progress
from tests.cluster.kube import Body, Kube, condition_of
from tests.ports import free_port

SYSTEM = "flux-system"
SOURCE = "source.toolkit.fluxcd.io/v1"
KUSTOMIZE = "kustomize.toolkit.fluxcd.io/v1"
HELM = "helm.toolkit.fluxcd.io/v2"
_PATHS = {
    "GitRepository": "/apis/source.toolkit.fluxcd.io/v1/namespaces/{}/gitrepositories/{}",
    "Kustomization": "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/{}/kustomizations/{}",
    "HelmRelease": "/apis/helm.toolkit.fluxcd.io/v2/namespaces/{}/helmreleases/{}",
}
_QUICK = ("--interval-jitter-percentage=0", "--min-retry-delay=250ms", "--max-retry-delay=2s")
_WAITING = {"kustomize-controller": ("--requeue-dependency=1s",), "helm-controller": ("--requeue-dependency=1s",)}


@contextmanager
def running(kube: Kube, folder: Path) -> Iterator[None]:
    """Install the CRDs and run the controllers; their logs and artifacts lie in `folder`."""
    programs = flux_build().ensure(cache_folder(), Progress())
    kube.kubectl("apply", "--server-side", "-f", str(programs / CRDS))
    kube.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", str(programs / CRDS))
    storage, address = folder / "artifacts", f"127.0.0.1:{free_port()}"
    storage.mkdir()
    own = {
        "source-controller": (f"--storage-path={storage}", f"--storage-addr={address}", f"--storage-adv-addr={address}")
    }
    with ExitStack() as stack:
        for name in CONTROLLERS:
            arguments = (*own.get(name, ()), *_WAITING.get(name, ()), *_QUICK)
            stack.enter_context(_controller(programs / name, kube.kubeconfig, folder / f"{name}.log", arguments))
        yield


@contextmanager
def _controller(program: Path, kubeconfig: Path, log: Path, arguments: tuple[str, ...]) -> Iterator[None]:
    addresses = [f"--{name}-addr=127.0.0.1:{free_port()}" for name in ("health", "metrics")]
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "RUNTIME_NAMESPACE": SYSTEM, "HOME": str(log.parent)}
    with log.open("wb") as out:
        command = [str(program), *addresses, *arguments]
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)  # noqa: S603
    try:
        yield
        assert process.poll() is None, log.read_text()[-4000:]
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass(frozen=True)
class Flux:
    """What a team does with Flux in one namespace."""

    kube: Kube

    def source(self, url: str, name: str = "models", **spec: Any) -> None:
        """A Git repository, looked at every second."""
        self.apply("GitRepository", SOURCE, name, {"interval": "1s", "url": url, "ref": {"branch": "main"}, **spec})

    def kustomization(self, name: str = "models", **spec: Any) -> None:
        """A folder of the repository, kept in the namespace and waited for."""
        usual = {
            "interval": "2s",
            "retryInterval": "2s",
            "timeout": "3m",
            "sourceRef": {"kind": "GitRepository", "name": "models"},
            "path": f"./{name}",
            "targetNamespace": self.kube.namespace,
            "prune": True,
            "wait": True,
        }
        self.apply("Kustomization", KUSTOMIZE, name, usual | spec)

    def apply(self, kind: str, version: str, name: str, spec: Body) -> None:
        """Create or change one of Flux's objects."""
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}
        path = self._path(kind, name) + "?fieldManager=team&force=true"
        self.kube.request("PATCH", path, body, content="application/apply-patch+yaml")

    def get(self, kind: str, name: str) -> Body:
        """One of them as it is."""
        return self.kube.request("GET", self._path(kind, name))

    def delete(self, kind: str, name: str, seconds: float = 120) -> None:
        """Delete one and wait until what it made was pruned."""
        self.kube.request("DELETE", self._path(kind, name))
        self.kube.wait(lambda: self._is_gone(kind, name), lambda: self.get(kind, name), seconds)

    def _is_gone(self, kind: str, name: str) -> bool:
        plural = self._path(kind, "").rstrip("/")
        return all(item["metadata"]["name"] != name for item in self.kube.request("GET", plural)["items"])

    def ready(self, kind: str = "Kustomization", name: str = "models") -> Body:
        """Its condition Ready, of the newest generation; empty before."""
        body = self.get(kind, name)
        ready = condition_of(body, "Ready")
        return dict(ready) if ready.get("observedGeneration") == body["metadata"]["generation"] else {}

    def revision(self, name: str = "models") -> str:
        """The commit that was applied and found healthy last; empty before."""
        return str(self.get("Kustomization", name).get("status", {}).get("lastAppliedRevision", "")).rpartition(":")[2]

    def wait_ready(self, commit: str, name: str = "models", seconds: float = 180) -> float:
        """Wait until a commit is applied and all of it is healthy; returns the seconds that took."""
        began = time.monotonic()
        self.kube.wait(
            lambda: self.revision(name) == commit and self.ready(name=name).get("status") == "True",
            lambda: (self.get("Kustomization", name).get("status"), self.kube.list("LLMService")),
            seconds,
        )
        return time.monotonic() - began

    def wait_failed(self, name: str = "models", seconds: float = 180) -> Body:
        """Wait until it is not Ready for a check that failed; returns the condition."""

        def failed() -> Body | None:
            ready = self.ready(name=name)
            return ready if ready.get("reason") == "HealthCheckFailed" else None

        return self.kube.wait(failed, lambda: self.get("Kustomization", name).get("status"), seconds)

    def _path(self, kind: str, name: str) -> str:
        return _PATHS[kind].format(self.kube.namespace, name)
