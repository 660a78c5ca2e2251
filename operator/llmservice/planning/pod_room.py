"""What `spec.pod` asks for beside CPU, memory and GPUs: devices of fast networks, huge pages, further volumes.

Huge pages are a resource of their own, whose request is its limit, and a volume: kubernetes.io/docs/tasks/
manage-hugepages/scheduling-hugepages.
"""

from collections.abc import Mapping

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.pod import PodOptions
from llmservice.api.v1alpha1.pod_room import MountedVolume
from llmservice.catalog.accelerator import Json
from llmservice.errors import InvalidSpec
from llmservice.planning.pod_plan import Mount
from llmservice.planning.volumes import clash

HUGE_PAGES_PATH = "/dev/hugepages"


def room_resources(pod: PodOptions) -> Mapping[str, str]:
    """Resource → amount, for requests and limits alike."""
    devices = {device.resource: str(device.count) for device in pod.network_devices}
    pages = {f"hugepages-{pod.huge_pages.size}": pod.huge_pages.amount} if pod.huge_pages else {}
    return {**devices, **pages}


def room_mounts(pod: PodOptions, *, beside: tuple[Mount, ...]) -> tuple[Mount, ...]:
    """Huge pages and further volumes; raises InvalidSpec for a path that conflicts with a mount in `beside`."""
    pages: tuple[Mount, ...] = ()
    if pod.huge_pages:
        volume: Json = {"emptyDir": {"medium": f"HugePages-{pod.huge_pages.size}"}}
        pages = (Mount(name="huge-pages", path=HUGE_PAGES_PATH, source=volume),)
    found = pages
    for index, volume_asked in enumerate(pod.mounts):
        mount = _mount(index, volume_asked, (*beside, *found))
        for other in (*beside, *found):
            if problem := clash(mount.path, other) or _hides(mount, other):
                raise InvalidSpec(Reason.INVALID_SPEC, problem, field=f"spec.pod.mounts[{index}].path")
        found = (*found, mount)
    return found


def _hides(mount: Mount, other: Mount) -> str:
    """A folder that is mounted read-only has no place for another mount in it."""
    if other.path.startswith(f"{mount.path}/"):
        return f"{other.path} is mounted in it, and {mount.path} is read-only; choose another path"
    return ""


def _mount(index: int, asked: MountedVolume, others: tuple[Mount, ...]) -> Mount:
    if asked.config_map is not None:
        source: Json = {"configMap": {"name": asked.config_map.name}}
        return Mount(name=f"mount-{index}", path=asked.path, source=source, read_only=True)
    name, sub_path = (asked.claim.name, asked.claim.sub_path or "") if asked.claim else ("", "")
    source = {"persistentVolumeClaim": {"claimName": name, "readOnly": True}}
    volume, source = _same_claim(name, others) or (f"mount-{index}", source)
    return Mount(name=volume, path=asked.path, source=source, read_only=True, sub_path=sub_path)


def _same_claim(name: str, others: tuple[Mount, ...]) -> tuple[str, Json] | None:
    """The volume that shows this claim already: some drivers do not mount one claim twice in a pod."""
    for other in others:
        if other.source.get("persistentVolumeClaim", {}).get("claimName") == name:
            return other.name, other.source
    return None
