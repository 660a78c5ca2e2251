"""Mounts besides the weights: caches, shared memory, files from Secrets and ConfigMaps."""

from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.engine_options import File
from llmservice.catalog.accelerator import Json
from llmservice.engines.engine import Launch
from llmservice.errors import InvalidSpec
from llmservice.planning.pod_plan import Mount

_SHM = "/dev/shm"  # noqa: S108  (a mount point)


@dataclass(frozen=True, slots=True)
class ScratchSizes:
    """Sizes of /dev/shm (empty: as the container has it) and of each writable folder (empty: no limit)."""

    shared_memory: str
    folder: str


def scratch_mounts(launch: Launch, sizes: ScratchSizes) -> tuple[Mount, ...]:
    """Writable folders for the engine, and /dev/shm where it has a size."""
    limit = {"sizeLimit": sizes.folder} if sizes.folder else {}
    folders = tuple(
        Mount(name=path.strip("/").replace("/", "-").replace(".", "").lower(), path=path, source={"emptyDir": limit})
        for path in launch.writable_paths
    )
    if not sizes.shared_memory:
        return folders
    memory = {"emptyDir": {"medium": "Memory", "sizeLimit": sizes.shared_memory}}
    return (*folders, Mount(name="shared-memory", path=_SHM, source=memory))


def file_mounts(files: tuple[File, ...], *, beside: tuple[Mount, ...]) -> tuple[Mount, ...]:
    """One volume for each file, so that it hides nothing else in its folder.

    Raises InvalidSpec for a path that conflicts with a mount in `beside`.
    """
    mounts = tuple(_file_mount(index, file) for index, file in enumerate(files))
    for index, mount in enumerate(mounts):
        others = (*beside, *mounts[:index], *mounts[index + 1 :])
        if problem := next(filter(None, (clash(mount.path, other) for other in others)), ""):
            raise InvalidSpec(Reason.INVALID_SPEC, problem, field=f"spec.engineOptions.files[{index}].path")
    return mounts


def clash(path: str, other: Mount) -> str:
    """Why a path conflicts with another mount; empty when it does not."""
    if path == other.path:
        return f"{path} is the mount path of another volume; choose another path"
    if other.path.startswith(f"{path}/"):
        return f"{path} must be a folder, because {other.path} is mounted in it; choose another path"
    if other.read_only and path.startswith(f"{other.path}/"):
        return f"{path} is in a read-only volume; choose a path outside {other.path}"
    return ""


def _file_mount(index: int, file: File) -> Mount:
    name = file.path.rpartition("/")[2]
    return Mount(name=f"file-{index}", path=file.path, source=_source(file, name), read_only=True, sub_path=name)


def _source(file: File, name: str) -> Json:
    if file.secret_key_ref is not None:
        reference = file.secret_key_ref
        return {"secret": {"secretName": reference.name, "items": [{"key": reference.key, "path": name}]}}
    if file.config_map_key_ref is not None:
        configured = file.config_map_key_ref
        return {"configMap": {"name": configured.name, "items": [{"key": configured.key, "path": name}]}}
    raise InvalidSpec(Reason.INVALID_SPEC, f"{file.path} has no source; set secretKeyRef or configMapKeyRef")
