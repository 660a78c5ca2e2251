"""What is mounted into the container besides weights: caches, shared memory, files from Secrets and ConfigMaps."""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.engine_options import File
from llmservice.engines.engine import Launch
from llmservice.errors import InvalidSpec
from llmservice.planning.service_plan import Json, Mount

_SHM = "/dev/shm"  # noqa: S108  (a mount point)
_SHM_SIZE = "2Gi"
"""Processes exchange buffers there; a container's own 64 MiB are too few (vLLM: 160 MiB on a CPU, 400 MiB with two)."""


def scratch_mounts(launch: Launch, devices: int) -> tuple[Mount, ...]:
    """Writable folders for the engine, and shared memory for more than one device or an engine that needs it."""
    folders = tuple(
        Mount(name=path.strip("/").replace("/", "-").replace(".", "").lower(), path=path, source={"emptyDir": {}})
        for path in launch.writable_paths
    )
    if devices <= 1 and not launch.needs_shared_memory:
        return folders
    memory = {"emptyDir": {"medium": "Memory", "sizeLimit": _SHM_SIZE}}
    return (*folders, Mount(name="shared-memory", path=_SHM, source=memory))


def file_mounts(files: tuple[File, ...], *, beside: tuple[Mount, ...]) -> tuple[Mount, ...]:
    """One volume for each file, so that it appears alone at its path.

    Raises InvalidSpec for a path where no file can be placed `beside` the other mounts.
    """
    mounts = tuple(_file_mount(index, file) for index, file in enumerate(files))
    for index, mount in enumerate(mounts):
        others = (*beside, *mounts[:index], *mounts[index + 1 :])
        if problem := next(filter(None, (_clash(mount.path, other) for other in others)), ""):
            raise InvalidSpec(Reason.INVALID_SPEC, problem, field=f"spec.engineOptions.files[{index}].path")
    return mounts


def _clash(path: str, other: Mount) -> str:
    """Why no file can be at a path beside another mount; empty when one can."""
    if path == other.path:
        return f"{path} is where a volume of the operator is mounted; choose another path"
    if other.path.startswith(f"{path}/"):
        return f"{path} must be a folder, because {other.path} is mounted in it; choose another path"
    if other.read_only and path.startswith(f"{other.path}/"):
        return f"{path} lies in a volume that is read-only; choose a path outside {other.path}"
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
