"""What an engine says about its devices and its KV cache while it starts, as a value."""

from dataclasses import dataclass, replace

from llmservice.untrusted.patterns import Match
from llmservice.untrusted.texts import printable

CPU = "cpu"

MOST_DEVICES = 64
"""Device names that are kept of one start."""

LONGEST_NAME = 80
LARGEST = 2**53
"""Numbers above are no sizes of anything: exact as JSON, and in the schema of the status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartReport:
    """Everything but `devices` is None where the engine does not say it.

    `backend` is what computes: `cuda`, `rocm`, `xpu`, `vulkan`, …, or `cpu`. `devices` are the names the engine gives
    to the devices in use, `device_count` how many there are. `offloaded_layers` of `layers` are on devices, the others
    on the CPU. `kv_bytes` is the KV cache on each device in bytes (their mean), `kv_tokens` the tokens it holds in all.
    `full_length_requests` of `request_tokens` tokens each have room in it at once.
    """

    backend: str | None = None
    devices: tuple[str, ...] = ()
    device_count: int | None = None
    offloaded_layers: int | None = None
    layers: int | None = None
    kv_bytes: int | None = None
    kv_tokens: int | None = None
    full_length_requests: float | None = None
    request_tokens: int | None = None

    def of_copies(self, copies: int) -> "StartReport":
        """What is true of the replica where the engine speaks of one of its copies of the model."""
        if copies <= 1:
            return self
        return replace(
            self,
            device_count=self.device_count and self.device_count * copies,
            kv_tokens=self.kv_tokens and self.kv_tokens * copies,
            full_length_requests=self.full_length_requests and self.full_length_requests * copies,
        )

    @property
    def in_use(self) -> bool | None:
        """Whether any device computes; None where the engine does not say."""
        if self.offloaded_layers is not None:
            return self.offloaded_layers > 0
        return None if self.backend is None else self.backend != CPU

    @property
    def is_partial(self) -> bool:
        """Whether some layers are on devices and others on the CPU."""
        return bool(self.offloaded_layers and self.layers and self.offloaded_layers < self.layers)


def whole(text: str) -> int | None:
    """A number as engines write it, with or without commas; None for none, and for what no size can be."""
    digits = text.replace(",", "")
    if not digits.isdecimal() or len(digits) > len(str(LARGEST)):
        return None
    number = int(digits)
    return number if number <= LARGEST else None


def whole_in(found: Match | None, group: str) -> int | None:
    """The number in a group of what a pattern found; None where it found nothing."""
    return None if found is None else whole(found[group])


def size_in(text: str, unit: int) -> int | None:
    """Bytes of a decimal number of units; None for none, and for what no size can be."""
    number = decimal(text)
    return None if number is None or number * unit > LARGEST else int(number * unit)


def decimal(text: str) -> float | None:
    """A decimal number without sign, with or without commas; None where it is none."""
    before, _, after = text.replace(",", "").partition(".")
    if whole(before) is None or (after and not after.isdecimal()):
        return None
    return float(f"{before}.{after[:6] or 0}")


def device_name(text: str) -> str:
    """A name fit to be shown, cut to a size."""
    return printable(text.strip()[:LONGEST_NAME])[:LONGEST_NAME]
