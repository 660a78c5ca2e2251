"""What clusters of several nodes need of a pod: fast networks, huge pages, further volumes. An allow-list, too."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.quantity import Quantity, amount_of
from llmservice.api.v1alpha1.text import Form, ObjectName

_PAGES = {"2Mi": 2 * 2**20, "1Gi": 2**30}

NetworkResource = Annotated[
    str,
    Field(min_length=6, max_length=96),
    Form(
        r"(rdma/|openshift\.io/|nvidia\.com/(hostdev|sriov|rdma|mlnx|resibp)|vpc\.amazonaws\.com/efa|aliyun/erdma|"
        r"koordinator\.sh/rdma|networking\.gke\.io\.networks/)[-A-Za-z0-9_.]*",
        "is not the resource of a network device: write rdma/…, nvidia.com/hostdev, vpc.amazonaws.com/efa or another "
        "that the reference lists, as the node advertises it",
    ),
]
MountPath = Annotated[
    str,
    Field(min_length=2, max_length=512),
    Form(r"(/[-._+@A-Za-z0-9]+)+", "is not an absolute path: begin with '/', use letters, digits and -._+@"),
]
SubPath = Annotated[
    str,
    Field(min_length=1, max_length=512),
    Form(
        r"[-._+@A-Za-z0-9]+(/[-._+@A-Za-z0-9]+)*",
        "is not a path in the volume: write it relative, without '/' before it",
    ),
]


class NetworkDevice(ApiModel):
    """Devices of a fast network (RDMA), as a device plugin hands them out."""

    resource: NetworkResource
    """Resource as the node advertises it. It begins with rdma/, openshift.io/, nvidia.com/ (hostdev, sriov, rdma, mlnx,
    resibp), vpc.amazonaws.com/efa, aliyun/erdma, koordinator.sh/rdma or networking.gke.io.networks/."""
    count: Annotated[int, Field(strict=True, ge=1, le=64)] = 1
    """How many of them a replica gets."""


class HugePages(ApiModel):
    """Huge pages of a replica, mounted at /dev/hugepages."""

    size: Literal["2Mi", "1Gi"] = "2Mi"
    """Size of a page."""
    amount: Quantity
    """All of them together: 1Gi. A multiple of the page size."""

    rules: ClassVar = (
        Rule(
            cel="quantity(string(self.amount)).isGreaterThan(quantity('0'))"
            " && quantity(string(self.amount)).isInteger()"
            " && quantity(string(self.amount)).asInteger() % (self.size == '1Gi' ? 1073741824 : 2097152) == 0",
            holds=lambda pages: (amount := amount_of(pages.amount)) > 0 and amount % _PAGES[pages.size] == 0,
            message="is no multiple of the page size: write 1Gi, 512Mi",
            field_path=".amount",
        ),
    )


class MountedClaim(ApiModel):
    """A PersistentVolumeClaim of the same namespace."""

    name: ObjectName
    """Name of the claim."""
    sub_path: SubPath | None = None
    """Folder of the claim. Omitted: all of it."""

    rules: ClassVar = (
        Rule(
            cel="!has(self.subPath) || !self.subPath.split('/').exists(part, part == '.' || part == '..')",
            holds=lambda claim: not {".", ".."} & set((claim.sub_path or "").split("/")),
            message="must not contain '.' or '..' as a part: write the path in full",
            field_path=".subPath",
        ),
    )


class MountedConfigMap(ApiModel):
    """A ConfigMap of the same namespace: each key is a file."""

    name: ObjectName
    """Name of the ConfigMap."""


class MountedVolume(ApiModel):
    """A volume that the engine reads: exactly one of claim and configMap. It is never written to."""

    path: MountPath
    """Absolute path of the folder in the container."""
    claim: MountedClaim | None = None
    """A claim of the same namespace."""
    config_map: MountedConfigMap | None = None
    """A ConfigMap of the same namespace."""

    rules: ClassVar = (
        Rule(
            cel="has(self.claim) != has(self.configMap)",
            holds=lambda volume: (volume.claim is None) != (volume.config_map is None),
            message="set exactly one of claim and configMap",
        ),
        Rule(
            cel="!self.path.split('/').exists(part, part == '.' || part == '..')",
            holds=lambda volume: not {".", ".."} & set(volume.path.split("/")),
            message="must not contain '.' or '..' as a part: write the path in full",
            field_path=".path",
        ),
        Rule(
            cel="!['/proc', '/sys', '/dev'].exists(top, self.path == top || self.path.startsWith(top + '/'))",
            holds=lambda volume: volume.path.split("/")[1] not in {"proc", "sys", "dev"},
            message="belongs to the system: mount it somewhere else",
            field_path=".path",
        ),
    )
