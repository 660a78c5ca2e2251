"""Counts free devices for services that roll out, and remembers for seconds what was read and what was promised.

Many services may roll out at once, after an upgrade or an edit of the catalogue: they share one reading, and a device
that one of them was told to take is not told to the next.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from llmservice.converging.free_devices import DeviceNode, DevicePod, Own, Room, candidates, count_room
from llmservice.errors import Refused
from llmservice.objects.device_amounts import Devices

log = logging.getLogger(__name__)

_FRESH_SECONDS = 5.0
_PROMISED_SECONDS = 30.0
"""A pod is created and bound within a second or two; a promise that nobody took ends."""
_REFUSED_SECONDS = 600.0
_READ_ONE_BY_ONE = 32
"""Nodes whose pods are asked for node by node; for more candidates one list of all pods is cheaper."""
_READ_AT_ONCE = 8


class Census(Protocol):
    """Who reads nodes and pods; both raise `Refused` without the right to."""

    async def nodes(self) -> Sequence[DeviceNode]:
        """Every node with devices."""
        ...

    async def pods(self, node: str = "") -> Sequence[DevicePod]:
        """Every pod that holds devices, of one node or of all."""
        ...


@dataclass(frozen=True, slots=True)
class _Promise:
    node: str
    devices: Devices
    made_at: float
    known: frozenset[str]
    """The service's pods that were there before: with another one on a node the promise is kept."""


@dataclass(slots=True)
class FreeDevices:
    """One reading of the cluster at a time. `clock` is monotonic, in seconds."""

    census: Census
    clock: Callable[[], float]
    _nodes: tuple[float, Sequence[DeviceNode]] = (float("-inf"), ())
    _pods: dict[str, tuple[float, Sequence[DevicePod]]] = field(default_factory=dict)
    _promises: dict[str, _Promise] = field(default_factory=dict)
    _refused_at: float = float("-inf")
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def room(self, service: str, pod_spec: dict[str, Any], own: Own) -> Room | None:
        """What is free for one more pod of a service ("ml/chat"); None where nodes and pods may not be listed.

        Raises what the census raises, but `Refused`: then it is asked again after ten minutes.
        """
        async with self._turn:
            if self.clock() - self._refused_at < _REFUSED_SECONDS:
                return None
            try:
                nodes = candidates(pod_spec, await self._read_nodes())
                pods = await self._read_pods([node.name for node in nodes])
            except Refused as refusal:
                log.info("rollouts: free devices cannot be counted: %s", refusal)
                self._refused_at = self.clock()
                return None
            others = [promise for name, promise in self._current(pods).items() if name != service]
            return count_room(pod_spec, nodes, pods, own, [(each.node, each.devices) for each in others])

    def promise(self, service: str, room: Room, own: Own) -> None:
        """Count what was found as taken, until the service has another pod on a node or half a minute is over.

        A promise that the service was given before is replaced.
        """
        self._promises[service] = _Promise(room.node, room.needs, self.clock(), own.uids)

    def keep_promise(self, service: str, placed: frozenset[str]) -> None:
        """Tell which pods of a service are on nodes: a new one ends its promise, and what was read before it."""
        promise = self._promises.get(service)
        if promise is not None and placed - promise.known:
            del self._promises[service]
            self._pods.clear()

    async def _read_nodes(self) -> Sequence[DeviceNode]:
        read_at, nodes = self._nodes
        if not self._is_fresh(read_at):
            nodes = await self.census.nodes()
            self._nodes = self.clock(), nodes
        return nodes

    async def _read_pods(self, names: Sequence[str]) -> list[DevicePod]:
        """The pods on these nodes, from lists of the last seconds or new ones."""
        self._pods = {name: known for name, known in self._pods.items() if self._is_fresh(known[0])}
        missing = [name for name in names if name not in self._pods]
        if len(missing) > _READ_ONE_BY_ONE:
            self._remember(names, await self.census.pods())
        else:
            for begin in range(0, len(missing), _READ_AT_ONCE):
                some = missing[begin : begin + _READ_AT_ONCE]
                for name, pods in zip(some, await asyncio.gather(*map(self.census.pods, some)), strict=True):
                    self._remember([name], pods)
        return [pod for name in names for pod in self._pods[name][1]]

    def _remember(self, names: Iterable[str], pods: Iterable[DevicePod]) -> None:
        found: dict[str, list[DevicePod]] = {name: [] for name in names}
        for pod in pods:
            if pod.node in found:
                found[pod.node].append(pod)
        self._pods |= {name: (self.clock(), on_node) for name, on_node in found.items()}

    def _current(self, pods: Sequence[DevicePod]) -> dict[str, _Promise]:
        """The promises that are neither kept nor too old."""
        new = {(pod.service, pod.uid) for pod in pods}
        self._promises = {
            service: promise
            for service, promise in self._promises.items()
            if self.clock() - promise.made_at < _PROMISED_SECONDS
            and not any(name == service and uid not in promise.known for name, uid in new)
        }
        return self._promises

    def _is_fresh(self, read_at: float) -> bool:
        return self.clock() - read_at < _FRESH_SECONDS
