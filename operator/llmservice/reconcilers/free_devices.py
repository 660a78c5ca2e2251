"""Counts free devices for services that roll out, and remembers for seconds what was read and what was promised.

Many services may roll out at once, after an upgrade or an edit of the catalogue: they share one reading, and a device
that one of them was told to take is not told to the next.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from llmservice.converging.free_devices import (
    NO_ANSWER,
    NO_RIGHT,
    DeviceNode,
    DevicePod,
    Own,
    Room,
    Uncounted,
    candidates,
    count_room,
)
from llmservice.errors import Refused, Unavailable
from llmservice.objects.device_amounts import Devices

log = logging.getLogger(__name__)

_FRESH_SECONDS = 5.0
_PROMISED_SECONDS = 30.0
"""A pod is created and bound within a second or two; a promise that nobody took ends."""
_REFUSED_SECONDS = 600.0
_LONGEST_SECONDS = 20.0
"""One reading: a second for 10,000 pods. Others that roll out wait for it."""
_SLOW_SECONDS = 60.0
_FAILING_SECONDS = 60.0
"""An API server that is away comes back; one that fails these lists for longer must not hold every edit back."""
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
    kept_at: float | None = None
    """Since then pods that are read of the node show it."""


@dataclass(slots=True)
class FreeDevices:
    """One reading of the cluster at a time. `clock` is monotonic, in seconds."""

    census: Census
    clock: Callable[[], float]
    _nodes: tuple[float, Sequence[DeviceNode]] = (float("-inf"), ())
    _pods: dict[str, tuple[float, Sequence[DevicePod]]] = field(default_factory=dict)
    _promises: dict[str, _Promise] = field(default_factory=dict)
    _uncounted: tuple[float, Uncounted] = (float("-inf"), NO_ANSWER)
    """Until when nothing is asked, and why."""
    _failures: tuple[float, float] = (float("inf"), float("-inf"))
    """Since when readings fail, and when the last one did."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def room(self, service: str, pod_spec: dict[str, Any], own: Own) -> Room | Uncounted:
        """What is free for one more pod of a service ("ml/chat").

        Raises what the census raises, but `Refused`, and a failure that lasts; then, and after a reading that takes too
        long, nothing is asked for a while.
        """
        async with self._turn:
            until, why = self._uncounted
            if self.clock() < until:
                return why
            try:
                async with asyncio.timeout(_LONGEST_SECONDS):
                    nodes = candidates(pod_spec, await self._read_nodes())
                    pods = await self._read_pods([node.name for node in nodes])
            except Refused as refusal:
                return self._give_up(NO_RIGHT, _REFUSED_SECONDS, str(refusal))
            except TimeoutError:
                return self._give_up(NO_ANSWER, _SLOW_SECONDS, f"no end within {_LONGEST_SECONDS:.0f} s")
            except Unavailable as failure:
                if not self._fails_for_long():
                    raise
                return self._give_up(NO_ANSWER, _SLOW_SECONDS, str(failure))
            self._failures = float("inf"), float("-inf")
            self._end_promises()
            others = [promise for name, promise in self._promises.items() if name != service]
            return count_room(pod_spec, nodes, pods, own, [(each.node, each.devices) for each in others])

    def _fails_for_long(self) -> bool:
        """Note one more failure; whether readings have failed for a minute, in tries that followed each other."""
        now, (since, last) = self.clock(), self._failures
        self._failures = since if now - last < 2 * _FAILING_SECONDS else now, now
        return now - self._failures[0] >= _FAILING_SECONDS

    def _give_up(self, why: Uncounted, seconds: float, cause: str) -> Uncounted:
        log.info("rollouts: %s: %s", why.why, cause)
        self._uncounted = self.clock() + seconds, why
        return why

    def promise(self, service: str, room: Room, own: Own) -> None:
        """Count what was found as taken, until the service has another pod on a node or half a minute is over.

        A promise that the service was given before is replaced.
        """
        self._promises[service] = _Promise(room.node, room.needs, self.clock(), own.uids)

    def keep_promise(self, service: str, placed: frozenset[str]) -> None:
        """Tell which pods of a service are on nodes: a new one is what was promised, once its node is read again."""
        promise = self._promises.get(service)
        if promise is not None and promise.kept_at is None and placed - promise.known:
            self._promises[service] = replace(promise, kept_at=self.clock())

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
            begun = self.clock()
            self._remember(begun, names, await self.census.pods())
        else:
            for begin in range(0, len(missing), _READ_AT_ONCE):
                some, begun = missing[begin : begin + _READ_AT_ONCE], self.clock()
                for name, pods in zip(some, await asyncio.gather(*map(self.census.pods, some)), strict=True):
                    self._remember(begun, [name], pods)
        return [pod for name in names for pod in self._pods[name][1]]

    def _remember(self, begun: float, names: Iterable[str], pods: Iterable[DevicePod]) -> None:
        found: dict[str, list[DevicePod]] = {name: [] for name in names}
        for pod in pods:
            if pod.node in found:
                found[pod.node].append(pod)
        self._pods |= {name: (begun, on_node) for name, on_node in found.items()}

    def _end_promises(self) -> None:
        """Those that pods show, and those that nobody took."""
        now = self.clock()
        self._promises = {
            service: promise
            for service, promise in self._promises.items()
            if now - promise.made_at < _PROMISED_SECONDS and not self._shows(promise)
        }

    def _shows(self, promise: _Promise) -> bool:
        read_at, _ = self._pods.get(promise.node, (float("-inf"), ()))
        return promise.kept_at is not None and read_at > promise.kept_at

    def _is_fresh(self, read_at: float) -> bool:
        return self.clock() - read_at < _FRESH_SECONDS
