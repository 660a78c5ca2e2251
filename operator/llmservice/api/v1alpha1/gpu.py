"""The accelerators of one replica."""

from typing import Annotated, ClassVar

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.lists import Unique
from llmservice.api.v1alpha1.text import Form

AcceleratorType = Annotated[
    str,
    Field(min_length=1, max_length=63),
    Form(
        r"[A-Za-z0-9]([-._ A-Za-z0-9]*[A-Za-z0-9])?",
        "is not the name of an accelerator: name a row of the accelerator catalogue",
    ),
]
ExtendedResource = Annotated[
    str,
    Field(min_length=3, max_length=317),
    Form(
        r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?",
        "is not a device resource: write domain/name as the node advertises it (kubectl describe node)",
    ),
]


Degree = Annotated[int, Field(strict=True, ge=1, le=64)]


class Parallelism(ApiModel):
    """How the devices of one replica share the model: tensor x pipeline x data is their number, on all nodes."""

    tensor: Degree | None = None
    """Devices that share each layer. Omitted: those that pipeline and data leave, where the engine divides layers."""
    pipeline: Degree | None = None
    """Stages, each with a part of the layers. Omitted: 1; the number of nodes, or what tensor leaves of several; what
    tensor leaves where the engine keeps layers whole."""
    data: Degree | None = None
    """Copies of the model in one replica, which take requests in turn. Omitted: 1."""
    expert: Degree | None = None
    """Devices that whole experts of a mixture are spread over. Omitted: 1, each expert is divided like a layer."""


class GpuAlternative(ApiModel):
    """Another type of accelerator to run on."""

    type: AcceleratorType
    """Accelerator type: a row of the catalogue."""
    count: Annotated[int, Field(strict=True, ge=1, le=64)] | None = None
    """Devices per replica. Omitted: as many as `gpu.count`."""


def _product(parallelism: Parallelism) -> int:
    """Of what is said."""
    return (parallelism.tensor or 1) * (parallelism.pipeline or 1) * (parallelism.data or 1)


_PRODUCT = " * ".join(
    f"(has(self.parallelism.{kind}) ? self.parallelism.{kind} : 1)" for kind in ("tensor", "pipeline", "data")
)


_DEVICES = "self.count * (has(self.nodes) ? self.nodes : 1)"


def _devices(gpu: "Gpu") -> int:
    """Of one replica."""
    return gpu.count * (gpu.nodes or 1)


class Gpu(ApiModel):
    """Which devices a replica gets, and how many.

    `type` alone is the normal case. With `resourceName` the pod asks for that resource; `type` then only chooses nodes.
    """

    type: AcceleratorType | None = None
    """Accelerator type: a row of the catalogue."""
    count: Annotated[int, Field(strict=True, ge=0, le=64)] = 1
    """Devices per replica, of each node where it has several; 0 runs on the CPU."""
    nodes: Annotated[int, Field(strict=True, ge=1, le=16)] | None = None
    """Nodes of one replica, each with a pod of `count` devices: a group that starts and ends as one. Omitted: 1."""
    resource_name: ExtendedResource | None = None
    """Resource to ask for instead of the catalogue's: MIG slices, shared devices, vendors the catalogue lacks."""
    shared: Annotated[bool, Field(strict=True)] = False
    """Whether nodes may be chosen that divide a device among pods by time-slicing or MPS."""
    alternatives: Annotated[tuple[GpuAlternative, ...], Field(max_length=4), Unique(("type",))] = ()
    """Other types in order of preference: the next is taken while no node with the one before has room."""
    parallelism: Parallelism | None = None
    """How the devices share the model. Omitted: as is usual for the engine."""
    offload_layers: Annotated[int, Field(strict=True, ge=1, le=10_000)] | None = None
    """Layers on the devices, the others on the CPU, where the engine can. Omitted: all."""
    verify: Annotated[bool, Field(strict=True)] = True
    """Whether a replica counts as ready only after its engine reported that it uses the devices."""

    rules: ClassVar = (
        Rule(
            cel="self.count > 0 || !(has(self.type) || has(self.resourceName))",
            holds=lambda gpu: gpu.count > 0 or not (gpu.type or gpu.resource_name),
            message="count: 0 runs on the CPU: remove type and resourceName, or raise count",
        ),
        Rule(
            cel="!has(self.alternatives) || size(self.alternatives) == 0"
            " || (has(self.type) && !has(self.resourceName))",
            holds=lambda gpu: not gpu.alternatives or bool(gpu.type and not gpu.resource_name),
            message="alternatives stand beside type: set type, and remove resourceName",
            field_path=".alternatives",
        ),
        Rule(
            cel="!has(self.offloadLayers) || self.count > 0",
            holds=lambda gpu: gpu.offload_layers is None or gpu.count > 0,
            message="count: 0 runs all layers on the CPU: remove offloadLayers, or raise count",
            field_path=".offloadLayers",
        ),
        Rule(
            cel="!has(self.nodes) || self.nodes == 1 || self.count > 0",
            holds=lambda gpu: gpu.nodes in {None, 1} or gpu.count > 0,
            message="several nodes share a model on devices: remove nodes, or raise count",
            field_path=".nodes",
        ),
        Rule(
            cel=f"!has(self.parallelism) || (self.count > 0 && {_DEVICES} % ({_PRODUCT}) == 0)",
            holds=lambda gpu: (
                gpu.parallelism is None or (gpu.count > 0 and _devices(gpu) % _product(gpu.parallelism) == 0)
            ),
            message="tensor x pipeline x data must be count x nodes: correct one of them, or omit tensor",
            field_path=".parallelism",
        ),
    )
