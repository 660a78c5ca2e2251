"""What one image of an engine version runs on, and what it cannot do there: a cell of the matrix.

Belongs here: what a device lacks for an image. Does not: what a resource asks for (`planning/compatibility.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from llmservice.untrusted.patterns import compiled

_CAPABILITY = compiled(r"[0-9]{1,2}\.[0-9]")
NEVER = "-"
"""In `needs`, instead of a compute capability: this image cannot do it on any device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """The oldest branch of the node's driver that runs an image ("R580"), and what to do about an older one.

    `way_out` ends a sentence, as in "with an older one set …".
    """

    least: str
    way_out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What an image runs on; whatever is empty is not recorded, and then nothing is refused.

    `least` and `most` are the compute capabilities it has kernels for (NVIDIA, "7.5"), `architectures` the gfx names
    (AMD). `needs` maps a field of the spec (`dtype`, `kvCacheDtype`, `model.uri`, `quantization`) to values and the
    compute capability that each needs, or `NEVER`; a value of `model.uri` is a scheme. `machines` are the values of the
    node label kubernetes.io/arch that the image exists for.
    """

    least: str = ""
    most: str = ""
    architectures: tuple[str, ...] = ()
    needs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    machines: tuple[str, ...] = ()
    driver: Driver | None = None

    def runs_on(self, capability: str) -> bool:
        """Whether it has kernels for a device; true when that is not known."""
        found = number_of(capability)
        if found is None:
            return not (self.architectures and capability) or capability in self.architectures
        least, most = number_of(self.least), number_of(self.most)
        return (least is None or least <= found) and (most is None or found <= most)

    def surely_runs_on(self, capability: str) -> bool:
        """Whether it is recorded that it has kernels for the device."""
        recorded = self.least if number_of(capability) else self.architectures
        return bool(recorded) and self.runs_on(capability)

    def need(self, field: str, value: str, capability: str) -> str:
        """What a value of a field needs and this device has not: a compute capability or NEVER; else empty."""
        least = self.needs.get(field, {}).get(value, "")
        return least if _beyond(least, capability) else ""

    def against(self, capability: str) -> "Support":
        """Only what matters on a device of this capability: what it lacks, and what nodes must have."""
        lacking = {
            name: {value: least for value, least in values.items() if _beyond(least, capability)}
            for name, values in self.needs.items()
        }
        kept = replace(self, needs={name: values for name, values in lacking.items() if values})
        return replace(kept, least="", most="", architectures=()) if self.runs_on(capability) else kept


@lru_cache(maxsize=256)
def number_of(capability: str) -> tuple[int, int] | None:
    """NVIDIA's compute capability as numbers that compare: "7.5" → (7, 5); None for anything else."""
    if not _CAPABILITY.matches(capability):
        return None
    major, _, minor = capability.partition(".")
    return int(major), int(minor)


def _beyond(least: str, capability: str) -> bool:
    """Whether a device has less than is needed; false when either is not known."""
    if least == NEVER:
        return True
    needed, found = number_of(least), number_of(capability)
    return needed is not None and found is not None and found < needed
