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


def file_mounts(files: tuple[File, ...], *, read_only: tuple[Mount, ...]) -> tuple[Mount, ...]:
    """One volume for each file, so that it appears alone at its path.

    Raises InvalidSpec for a path inside a read-only volume, where no file can be placed.
    """
    return tuple(_file_mount(index, file, read_only) for index, file in enumerate(files))


def _file_mount(index: int, file: File, read_only: tuple[Mount, ...]) -> Mount:
    for mount in read_only:
        if f"{file.path}/".startswith(f"{mount.path}/"):
            raise InvalidSpec(
                Reason.INVALID_SPEC,
                f"{file.path} lies in a volume that is read-only; choose a path outside {mount.path}",
                field=f"spec.engineOptions.files[{index}].path",
            )
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
