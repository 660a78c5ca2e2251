"""The port of each service that may sleep, by which the activators know whom a request is for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.converging.activation import choose_port
from llmservice.objects.endpoint_slices import is_ours, port_of, service_of
from llmservice.objects.references import Manifest, controller_uid
from llmservice.reconcilers.workers import ServiceKey

_INDEX_SECONDS, _UNKNOWN_PORT_SECONDS = 1.0, 0.1
"""So old the index of ports may be; for a port that it lacks it is made anew, ten times a second at most."""

_SPARED_SECONDS = 600.0
"""A port that was given back is given to nobody else for so long: activators may still hold requests on it."""


class Owner(NamedTuple):
    """Whose a port is."""

    key: ServiceKey
    uid: str


@dataclass(slots=True, kw_only=True)
class Ports:
    """A port stands in the EndpointSlice of its service; here is only what no slice says yet, or any more.

    `clock` is monotonic, in seconds.
    """

    cache: ObjectCache
    clock: Callable[[], float]
    _owners: dict[int, Owner] = field(default_factory=dict)
    _indexed_at: float = float("-inf")
    _given: dict[str, tuple[int, float]] = field(default_factory=dict)

    def port(self, owner: Owner, mine: Manifest | None) -> int | None:
        """The port that a service has or is given now; None when all are taken. `mine` is its EndpointSlice."""
        now, uid = self.clock(), owner.uid
        self._given = {of: given for of, given in self._given.items() if now - given[1] < _SPARED_SECONDS}
        port = port_of(mine or {}) or (self._given[uid][0] if uid in self._given else None)
        if port is None or self._index().get(port, owner) != owner:
            spared = [given for of, (given, _) in self._given.items() if of != uid]
            port = choose_port(uid, self.cache.of_kind("EndpointSlice"), spared)
        if port is not None:
            self._given[uid] = port, now
        return port

    def owner(self, port: int) -> Owner | None:
        """Whose a port is; None of one that no EndpointSlice of ours names."""
        return self._index().get(port) or self._index(_UNKNOWN_PORT_SECONDS).get(port)

    def _index(self, at_most_seconds: float = _INDEX_SECONDS) -> dict[int, Owner]:
        """The service of each port: of several the oldest. At most so old."""
        if self.clock() - self._indexed_at > at_most_seconds:
            self._indexed_at = self.clock()
            ours = [each for each in self.cache.of_kind("EndpointSlice") if is_ours(each)]
            ours.sort(key=lambda each: str(each["metadata"].get("creationTimestamp", "")), reverse=True)
            self._owners = {port: _owner(each) for each in ours if (port := port_of(each)) is not None}
        return self._owners


def _owner(endpoint_slice: Manifest) -> Owner:
    """The service of a slice of ours, by the label that its name was checked against."""
    metadata = endpoint_slice["metadata"]
    return Owner((metadata["namespace"], service_of(metadata["name"])), controller_uid(endpoint_slice))
