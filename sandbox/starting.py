"""From nothing, or from whatever a crash left, to a cluster that runs pods. Every step may find itself done."""

import shutil
from pathlib import Path

from sandbox import cgroups, network
from sandbox.api_client import ApiClient
from sandbox.artifacts import Artifacts
from sandbox.cell import Cell
from sandbox.certificates import ensure_certificates
from sandbox.components import Component, Journal
from sandbox.control_plane import control_plane
from sandbox.errors import SandboxError
from sandbox.images import image_names, load_image
from sandbox.node import node
from sandbox.node_resources import GPU, GPU_LABELS, extended_resources, is_ready, labels, set_labels, set_resource
from sandbox.processes import ProcessIdentity, this_boot
from sandbox.progress import Progress
from sandbox.settings import SandboxSpec
from sandbox.supervision import ensure_running, wait_healthy
from sandbox.waiting import wait_until

LOADED_IMAGES = "loaded-images"


def components(spec: SandboxSpec, programs: Path) -> list[Component]:
    """All components, in starting order; writes certificates and configuration files that are missing."""
    pki = ensure_certificates(spec)
    return [*control_plane(spec, programs, pki), *node(spec, programs, pki)]


def start(spec: SandboxSpec, artifacts: Artifacts, progress: Progress) -> bool:
    """Bring the sandbox up; False when there was nothing to do."""
    cell = _ensure_cell(spec, progress)
    network.connect(spec, cell)
    cgroups.create(spec.cgroup)
    _ensure_models(spec, artifacts)
    everything = {component.name: component for component in components(spec, artifacts.programs)}
    journal = Journal(folder=spec.folder)

    def begin(*names: str) -> list[str]:
        return [name for name in names if ensure_running(cell, journal, everything[name])]

    started = begin("etcd", "kube-apiserver", "containerd")
    wait_healthy(cell, journal, everything["containerd"])
    if archives := _images_to_load(spec, cell, artifacts):
        with progress.step("Load the images"):
            _load_images(spec, cell, archives)
    if started:
        with progress.step("Start the API server"):
            wait_healthy(cell, journal, everything["kube-apiserver"])
    started += begin("kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy")
    if started or not _is_as_described(spec):
        with progress.step("Start the node"):
            _wait_for_cluster(spec, cell, journal, list(everything.values()))
        return True
    return bool(archives)


def _is_as_described(spec: SandboxSpec) -> bool:
    """Whether the node's last touches are done; an `up` may have been killed before them."""
    try:
        api = ApiClient(spec.kubeconfig)
        devices = extended_resources(api).get(GPU) == str(spec.gpus)
        return devices and is_ready(api) and labels(api).items() >= GPU_LABELS.items()
    except SandboxError:
        return False


def _ensure_cell(spec: SandboxSpec, progress: Progress) -> Cell:
    cell = Cell.find(spec)
    if cell is None:
        Cell.end_any(spec)
        _forget_the_last_cell(spec, progress)
        cell = Cell.start(spec)
    return cell


def _forget_the_last_cell(spec: SandboxSpec, progress: Progress) -> None:
    """No process of it lives. Its addresses are free again; after a restart of the machine its data is suspect."""
    last = ProcessIdentity.load(spec.folder / "cell.json")
    shutil.rmtree(spec.folder / "cni", ignore_errors=True)
    if last is None:
        return
    if last.boot_id != this_boot():
        progress.note("the machine was restarted since: beginning with an empty cluster")
        shutil.rmtree(spec.folder)
    else:
        progress.note("the sandbox had died: resuming with its data")


def _ensure_models(spec: SandboxSpec, artifacts: Artifacts) -> None:
    spec.models.mkdir(parents=True, exist_ok=True)
    for model in artifacts.models.iterdir():
        if not (spec.models / model.name).exists():
            shutil.copyfile(model, spec.models / model.name)


def _images_to_load(spec: SandboxSpec, cell: Cell, artifacts: Artifacts) -> list[Path]:
    """Archives that are new since the last start, or whose images containerd has not."""
    record = spec.folder / LOADED_IMAGES
    loaded = record.read_text().splitlines() if record.exists() else []
    present = set(image_names(cell))
    return [path for path, names in artifacts.images.items() if str(path) not in loaded or not names <= present]


def _load_images(spec: SandboxSpec, cell: Cell, archives: list[Path]) -> None:
    record = spec.folder / LOADED_IMAGES
    for archive in archives:
        load_image(cell, archive)
        with record.open("a") as file:
            file.write(f"{archive}\n")


def _wait_for_cluster(spec: SandboxSpec, cell: Cell, journal: Journal, everything: list[Component]) -> None:
    for component in everything:
        wait_healthy(cell, journal, component)
    api = ApiClient(spec.kubeconfig)
    wait_until(lambda: is_ready(api), "node Ready", timeout_seconds=60)
    set_labels(api, GPU_LABELS)
    set_resource(api, GPU, spec.gpus)
    account = "/api/v1/namespaces/default/serviceaccounts/default"
    wait_until(lambda: api.get(account) is not None, "service account of pods", timeout_seconds=30)
