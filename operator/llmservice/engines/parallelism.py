"""How the devices of one replica share a model, and in which ways an engine can have them do it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["tensor", "pipeline", "data", "expert"]
KINDS: tuple[Kind, ...] = ("tensor", "pipeline", "data", "expert")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallelism:
    """Devices of one replica: tensor x pipeline x data of them; all are 1 on the CPU.

    `tensor` devices share each layer. `pipeline` is the number of stages, each with a part of the layers. `data` is the
    number of copies of the model, which take requests in turn. `expert` devices have whole experts each; 1 where each
    expert is divided like other layers.
    """

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    expert: int = 1


ONE_DEVICE = Parallelism()
"""Nothing is shared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelUse:
    """In which ways an engine divides a model among devices.

    `flags` maps each kind that it can to the option that a version must know for it; empty where it needs none. `rest`
    is the kind that gets the devices of which the resource says nothing. `combines`: several kinds may be more than 1
    at once. `copies_share_experts`: the experts of a mixture are spread over the devices of all copies (tensor x data),
    and `expert` is that number or 1; else each copy has all experts, and `expert` divides `tensor`.
    """

    flags: Mapping[Kind, str]
    rest: Literal["tensor", "pipeline"] = "tensor"
    combines: bool = True
    copies_share_experts: bool = False

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds that it can."""
        return frozenset(self.flags)
