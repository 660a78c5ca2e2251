"""The sandbox as one object: what tests, the Makefile and the command line use."""

from pathlib import Path
from typing import Self

from sandbox.api_client import ApiClient
from sandbox.artifacts import Artifacts, ensure_artifacts, is_complete
from sandbox.build_kubernetes import kubernetes_build
from sandbox.cache import cache_folder, locked
from sandbox.cell import Cell
from sandbox.engine_image import ENGINE_IMAGES
from sandbox.errors import SandboxError
from sandbox.etcd_data import restore, save
from sandbox.images import load_image
from sandbox.model_volume import ensure_cache_volume, ensure_model_volume
from sandbox.node_resources import GPU, set_labels, set_resource
from sandbox.preflight import check_machine
from sandbox.progress import Progress
from sandbox.settings import SandboxSpec
from sandbox.starting import start
from sandbox.stopping import stop


class Sandbox:
    """A real Kubernetes on this machine. Making the object does nothing; `up` does."""

    def __init__(self, spec: SandboxSpec, progress: Progress | None = None) -> None:
        self.spec = spec
        self._progress = progress or Progress()

    @classmethod
    def named(cls, name: str = "default", *, gpus: int = 4, audit_log: Path | None = None) -> Self:
        """The sandbox of this name in the user cache folder."""
        return cls(SandboxSpec(name=name, cache=cache_folder(), gpus=gpus, audit_log=audit_log))

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig; it exists once the sandbox is up."""
        return self.spec.kubeconfig

    @property
    def kubectl(self) -> Path:
        """The kubectl of the same release."""
        return kubernetes_build().folder(self.spec.cache) / "kubectl"

    @property
    def bridge_address(self) -> str:
        """Where pods reach the host."""
        return str(self.spec.addresses.host)

    @property
    def engine_image(self) -> str:
        """The llama.cpp image by the name the operator uses on CPUs."""
        return ENGINE_IMAGES[0]

    def build(self) -> Artifacts:
        """Build what is missing in the cache."""
        if not is_complete(self.spec.cache):
            check_machine(building=True)
        return ensure_artifacts(self.spec.cache, self._progress)

    def up(self) -> bool:
        """Build what is missing, start what is not running; False when all was running already."""
        check_machine(building=False)
        artifacts = self.build()
        with locked(self.spec.cache / "sandboxes" / f"{self.spec.name}.lock", self._tell_of_another):
            return start(self.spec, artifacts, self._progress)

    def down(self) -> bool:
        """Stop everything and remove its data; False when there was nothing. Builds stay in the cache."""
        with locked(self.spec.cache / "sandboxes" / f"{self.spec.name}.lock", self._tell_of_another):
            return stop(self.spec)

    def save_etcd(self, target: Path) -> None:
        """Copy what the cluster's etcd holds into a new folder."""
        save(self.spec, target)

    def restore_etcd(self, source: Path) -> None:
        """Restart the control plane with saved data: the cluster is as it was then. Pods that it forgot are removed."""
        with locked(self.spec.cache / "sandboxes" / f"{self.spec.name}.lock", self._tell_of_another):
            restore(self.spec, source)
        self.up()

    def load_image(self, archive: Path) -> list[str]:
        """Import an OCI or Docker archive; the names it brought."""
        return load_image(self.cell(), archive)

    def model_volume(self, namespace: str, claim: str) -> None:
        """Give the namespace a bound claim with the tiny model at `/tiny.gguf`."""
        ensure_model_volume(self.api(), self.spec, namespace, claim)

    def cache_volume(self, namespace: str, claim: str, *, megabytes: int | None = None) -> str:
        """Reserve an empty volume for a claim that somebody makes, full after so many megabytes; returns its name."""
        return ensure_cache_volume(self.api(), self.spec, self.cell(), namespace, claim, megabytes)

    def set_gpus(self, count: int) -> None:
        """Advertise this many `nvidia.com/gpu` from now on; pods that run keep theirs."""
        self.set_resource(GPU, count)

    def set_resource(self, name: str, amount: int) -> None:
        """Advertise an extended resource, for example `nvidia.com/mig-1g.10gb`."""
        set_resource(self.api(), name, amount)

    def set_labels(self, labels: dict[str, str]) -> None:
        """Label the node."""
        set_labels(self.api(), labels)

    def api(self) -> ApiClient:
        """Requests to the API server as administrator; SandboxError when the sandbox is not up."""
        self.cell()
        return ApiClient(self.kubeconfig)

    def cell(self) -> Cell:
        """The running cell; SandboxError when the sandbox is not up."""
        cell = Cell.find(self.spec)
        if cell is None:
            raise SandboxError(f"sandbox {self.spec.name!r} is not up: python -m sandbox up --name {self.spec.name}")
        return cell

    def _tell_of_another(self) -> None:
        self._progress.note(f"another command works on sandbox {self.spec.name!r}: waiting for it")
