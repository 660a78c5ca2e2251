"""Since when whatever comes for a service is held, if no replica takes it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from llmservice.objects.endpoint_slices import has_endpoints
from llmservice.objects.references import Manifest

_COVERED_SECONDS = 2.0
"""After the activators became endpoints the last node has heard of it (kube-proxy takes less than one)."""


@dataclass(frozen=True, slots=True)
class _Covered:
    """An EndpointSlice with activators as endpoints: its version, and since when it is known."""

    version: str
    since: float


@dataclass(slots=True)
class Covering:
    """By UID of the service. `clock` is monotonic, in seconds."""

    clock: Callable[[], float]
    _covered: dict[str, _Covered] = field(default_factory=dict)

    def is_covered(self, uid: str, mine: Manifest | None) -> bool:
        """Whether its EndpointSlice as it is leads to activators for so long that every node knows."""
        if mine is None or not has_endpoints(mine):
            self.forget(uid)
            return False
        known, version = self._covered.get(uid), str(mine["metadata"].get("resourceVersion", ""))
        if known is None or known.version != version:  # other endpoints, of which every node has to hear
            known = self._covered[uid] = _Covered(version, self.clock())
        return self.clock() - known.since >= _COVERED_SECONDS

    def forget(self, uid: str) -> None:
        """Forget a resource that is gone, or that nobody covers."""
        self._covered.pop(uid, None)
