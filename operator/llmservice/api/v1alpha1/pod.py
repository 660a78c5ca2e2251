"""The pods: an allow-list, not a PodSpec.

Host path, host network, privilege and host ports cannot be expressed.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.lists import Unique
from llmservice.api.v1alpha1.pod_room import HugePages, MountedVolume, NetworkDevice
from llmservice.api.v1alpha1.quantity import Quantity
from llmservice.api.v1alpha1.resources import Resources, at_least_a_mebibyte
from llmservice.api.v1alpha1.scheduling import Affinity, Labels, Toleration, TopologySpreadConstraint
from llmservice.api.v1alpha1.text import LABEL_KEY, KeyForm, LabelKey, ObjectName

Annotations = Annotated[
    Mapping[LabelKey, Annotated[str, Field(max_length=16384)]],
    Field(max_length=64),
    KeyForm(LABEL_KEY),
]
UserId = Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)]
GroupId = Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]

_OURS = ("llmservice.dev/", "app.kubernetes.io/")
_LOOSENING = (
    "container.apparmor.security.beta.kubernetes.io/",
    "container.seccomp.security.alpha.kubernetes.io/",
    "seccomp.security.alpha.kubernetes.io/",
    "io.kubernetes.cri-o.",
)
"""What Kubernetes' older security fields and a container runtime's own are called: they say what no field here can."""


def _is_ip(text: str) -> bool:
    """As the API server's isIP: no zone, and no IPv4 address in the clothes of an IPv6 one."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return "%" not in text and getattr(address, "ipv4_mapped", None) is None


def _no_key_of_ours(field: str) -> Rule:
    return _no_key_under(_OURS, field, f"keys under {' and '.join(_OURS)} are the operator's: remove them")


def _no_key_under(prefixes: tuple[str, ...], field: str, message: str) -> Rule:
    starts = " || ".join(f"key.startsWith('{prefix}')" for prefix in prefixes)
    return Rule(
        cel=f"!has(self.{field}) || !self.{field}.exists(key, {starts})",
        holds=lambda pod: not any(key.startswith(prefixes) for key in getattr(pod, field)),
        message=message,
        field_path=f".{field}",
    )


class HostAlias(ApiModel):
    """Names for an address in the pod's hosts file."""

    ip: Annotated[str, Field(min_length=2, max_length=45)]
    """The address."""
    hostnames: Annotated[tuple[ObjectName, ...], Field(min_length=1, max_length=32)]
    """Its names."""

    rules: ClassVar = (
        Rule(
            cel="isIP(self.ip)",
            holds=lambda alias: _is_ip(alias.ip),
            message="is not an IP address: write IPv4 or IPv6",
            field_path=".ip",
        ),
    )


class PullSecret(ApiModel):
    """A Secret of the same namespace with the credentials of a registry."""

    name: ObjectName
    """Name of the Secret."""


class SecurityContext(ApiModel):
    """As whom the pod runs. All else follows the restricted Pod Security Standard."""

    run_as_user: UserId | None = None
    """Numeric user; never root. Omitted: the image's, from the catalogue; an image of your own does not get root so."""
    run_as_group: GroupId | None = None
    """Numeric group. Omitted: the image's, from the catalogue."""
    fs_group: GroupId | None = None
    """Numeric group that owns mounted volumes."""
    supplemental_groups: Annotated[tuple[GroupId, ...], Field(max_length=16), Unique()] = ()
    """Further numeric groups."""


class PodOptions(ApiModel):
    """Where and how the pods run, by the names of a PodSpec."""

    labels: Labels = Field(default_factory=dict)
    """Labels of the pods."""
    annotations: Annotations = Field(default_factory=dict)
    """Annotations of the pods."""
    node_selector: Labels = Field(default_factory=dict)
    """Labels a node must have."""
    affinity: Affinity | None = None
    """Affinity to nodes and pods."""
    tolerations: Annotated[tuple[Toleration, ...], Field(max_length=32)] = ()
    """Taints the pods tolerate, besides those of the accelerator."""
    topology_spread_constraints: Annotated[
        tuple[TopologySpreadConstraint, ...], Field(max_length=8), Unique(("topology_key", "when_unsatisfiable"))
    ] = ()
    """How evenly pods are spread."""
    priority_class_name: ObjectName | None = None
    """Name of a PriorityClass."""
    runtime_class_name: ObjectName | None = None
    """Name of a RuntimeClass."""
    scheduler_name: ObjectName | None = None
    """Name of the scheduler. Omitted: the cluster's default."""
    service_account_name: ObjectName | None = None
    """Name of a ServiceAccount of the same namespace; its token is never mounted. Omitted: default."""
    image_pull_secrets: Annotated[tuple[PullSecret, ...], Field(max_length=16), Unique(("name",))] = ()
    """Secrets with the credentials of registries."""
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None
    """When to pull the image. Omitted: IfNotPresent."""
    host_aliases: Annotated[tuple[HostAlias, ...], Field(max_length=32), Unique(("ip",))] = ()
    """Entries of the pod's hosts file."""
    resources: Resources = Resources()
    """CPU, memory and ephemeral storage of a replica."""
    shared_memory: Quantity | None = None
    """Size of /dev/shm: 8Gi. It counts as memory of the pod. Omitted: computed."""
    network_devices: Annotated[tuple[NetworkDevice, ...], Field(max_length=8), Unique(("resource",))] = ()
    """Devices of a fast network (RDMA) for a replica, beside its GPUs."""
    lock_memory: Annotated[bool, Field(strict=True)] = False
    """Whether the engine may lock any amount of memory (IPC_LOCK), for RDMA on nodes whose runtime limits it. Only
    namespaces that enforce no Pod Security, or the privileged standard, admit such pods."""
    huge_pages: HugePages | None = None
    """Huge pages of a replica, at /dev/hugepages. Omitted: none."""
    mounts: Annotated[tuple[MountedVolume, ...], Field(max_length=16), Unique(("path",))] = ()
    """Further folders that the engine reads: from claims and ConfigMaps."""
    security_context: SecurityContext = SecurityContext()
    """As whom the pod runs."""

    rules: ClassVar = (
        _no_key_of_ours("labels"),
        _no_key_of_ours("annotations"),
        _no_key_under(
            _LOOSENING, "annotations", "AppArmor, seccomp and the container runtime are not chosen here: remove them"
        ),
        at_least_a_mebibyte("shared_memory", "sharedMemory", "sharedMemory"),
    )
    unknown_field_hint: ClassVar[str] = "spec.pod is an allow-list, not a PodSpec"
