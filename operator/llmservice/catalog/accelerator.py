"""One type of accelerator: a row of accelerators.yaml, completed by its vendor's row."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Json = Mapping[str, Any]
"""A piece of Kubernetes JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTerm:
    """How one platform labels nodes with this type: a nodeSelectorTerm in Kubernetes' own form."""

    platform: str
    term: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One type of device.

    `name` is empty for a device known by its resource alone: then there are no `node_terms`. `node_terms` are ORed.
    `memory_gib` is the total the runtime reports, 0 when unknown. `capability` is NVIDIA's compute capability or AMD's
    gfx name, `machine` the architecture of the only CPUs it is built with (`arm64`), else empty. `supplemental_groups`
    and `seccomp_profile` are what the device needs in the pod's security context.

    `avoided` are requirements that keep off nodes whose devices are divided; they belong to every term, and are one by
    themselves where there is none. `shared_terms` and `shared_avoided` take their place for a pod that admits shared
    devices: `admitting` chooses. `shared` tells that others may use the device's memory too. JSON takes no part in the
    hash.
    """

    name: str
    vendor: str
    resource_name: str
    image_variant: str
    capability: str = ""
    machine: str = ""
    memory_gib: float = 0.0
    node_terms: tuple[NodeTerm, ...] = field(default=(), hash=False)
    tolerations: tuple[Json, ...] = field(default=(), hash=False)
    supplemental_groups: tuple[int, ...] = ()
    seccomp_profile: str = "RuntimeDefault"
    avoided: tuple[Json, ...] = field(default=(), hash=False)
    shared_terms: tuple[NodeTerm, ...] = field(default=(), hash=False)
    shared_avoided: tuple[Json, ...] = field(default=(), hash=False)
    shared: bool = False

    @property
    def is_slice(self) -> bool:
        """Whether the pod gets a part of a device with memory of its own (MIG).

        No model is divided over several: slices cannot read each other's memory (NVIDIA's MIG user guide: "no GPU to
        GPU P2P is supported").
        """
        return "/mig-" in self.resource_name

    def admitting(self, *, shared: bool) -> "Accelerator":
        """The device for a pod that admits nodes where it is shared, or that stays off them."""
        terms, avoided = (self.shared_terms, self.shared_avoided) if shared else (self.node_terms, self.avoided)
        return replace(self, node_terms=terms, avoided=avoided, shared_terms=(), shared_avoided=(), shared=shared)

    @property
    def shown_name(self) -> str:
        """How messages name it: by the slice of a device, the type, or the resource where nothing else is known."""
        if self.is_slice:
            return f"{self.resource_name.partition('/')[2]} slice"
        return self.name or self.resource_name
