"""Looks at the nodes that replicas run on: which of them are going is told, and decides who leaves first.

Replicas on a node that is shut down are deleted (node_shutdown.py). Such a node is found within seconds, because a pod
that its node's controller marks as not ready is a reason to look at that node at once.

It needs the right to list nodes, which is optional: without it nothing changes. A node is asked for by its name, which
costs the API server one read; beyond a few dozen nodes one list of all is cheaper.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.leaving_nodes import leaving_message, nodes_of, why_leaving
from llmservice.converging.node_shutdown import is_marked, is_shut_down, shutdown_message
from llmservice.errors import OperatorError, Refused
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, uid_of
from llmservice.reconcilers.node_events import NodeEvents
from llmservice.reconcilers.node_shutdown import NodeShutdowns

log = logging.getLogger(__name__)

_PERIOD_SECONDS = 30.0
_LEAST_PERIOD_SECONDS = 2.0
"""Between two looks, however often pods are marked: those of a node are marked together."""
_REFUSED_PERIOD_SECONDS = 600.0
_ASKED_BY_NAME = 50
_ASKED_AT_ONCE = 8


@dataclass(slots=True, kw_only=True)
class NodeWatch:
    """Watches while this process leads. `leaving` says why, by name of the node; it is replaced whole."""

    cluster: Cluster
    cache: ObjectCache
    now: Callable[[], datetime]
    least_period_seconds: float = _LEAST_PERIOD_SECONDS
    leaving: Mapping[str, str] = field(default_factory=dict)
    _events: NodeEvents = field(init=False)
    _shutdowns: NodeShutdowns = field(init=False)
    _marked: set[str] = field(default_factory=set, init=False)
    _woken: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def __post_init__(self) -> None:
        self._events = NodeEvents(cluster=self.cluster, cache=self.cache, now=self.now)
        self._shutdowns = NodeShutdowns(cluster=self.cluster, cache=self.cache)

    def notice(self, before: Manifest | None, after: Manifest | None) -> None:
        """A listener of the cache: the node of a pod that was marked as not ready is looked at soon."""
        if after is not None and is_marked(before, after):
            self._marked |= nodes_of([after])
            self._woken.set()

    async def run(self) -> NoReturn:
        """One term of leadership, until cancelled."""
        self.leaving = {}
        pause = await self.look(tell=False)
        while True:
            due = time.monotonic() + pause
            while nodes := await self._marked_until(due):
                due = min(due, time.monotonic() + await self.look(nodes))
            pause = await self.look()

    async def _marked_until(self, due: float) -> frozenset[str]:
        """Nodes of pods that were marked meanwhile; none when all nodes are due to be looked at."""
        await asyncio.sleep(self.least_period_seconds)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), due - time.monotonic())
        self._woken.clear()
        marked, self._marked = frozenset(self._marked), set()
        return marked if time.monotonic() < due else frozenset()

    async def look(self, only: frozenset[str] | None = None, *, tell: bool = True) -> float:
        """Look once, at all nodes or at `only` these, and act; returns the seconds until the next look at all.

        Told are nodes that were found going just now. A new leader does not tell of those that it finds: its
        predecessor has.
        """
        pods = [pod for pod in self.cache.of_kind("Pod") if NAME_LABEL in (pod["metadata"].get("labels") or {})]
        names = nodes_of(pods) if only is None else only
        try:
            nodes = await self._nodes(names)
        except Refused:
            self.leaving = {}
            return _REFUSED_PERIOD_SECONDS
        except OperatorError as error:
            log.warning("nodes: %s", error)
            return _PERIOD_SECONDS
        before = self.leaving
        others = {} if only is None else {name: why for name, why in before.items() if name not in names}
        self.leaving = others | {node["metadata"]["name"]: why for node in nodes if (why := why_leaving(node))}
        deleted = await self._leave(nodes)
        if tell:
            await self._tell(frozenset(self.leaving) - before.keys(), pods, deleted)
        return self.least_period_seconds if self._shutdowns.unfinished else _PERIOD_SECONDS

    async def _nodes(self, names: frozenset[str]) -> list[Manifest]:
        if len(names) > _ASKED_BY_NAME:
            return [node for node in await self.cluster.list("Node") if node["metadata"]["name"] in names]
        places = asyncio.Semaphore(_ASKED_AT_ONCE)

        async def of(name: str) -> list[Manifest]:
            async with places:
                return await self.cluster.list("Node", field_selector=f"metadata.name={name}")

        return [node for nodes in await asyncio.gather(*map(of, sorted(names))) for node in nodes]

    async def _leave(self, nodes: list[Manifest]) -> list[Manifest]:
        """Delete the replicas on those of the nodes that are shut down, and tell; returns them."""
        shut_down = frozenset(node["metadata"]["name"] for node in nodes if is_shut_down(node))
        deleted = await self._shutdowns.leave(shut_down)
        await self._events.tell(deleted, shutdown_message)
        return deleted

    async def _tell(self, names: frozenset[str], pods: list[Manifest], deleted: list[Manifest]) -> None:
        """Of nodes that are going, where nothing was done about it yet."""
        done = {uid_of(pod) for pod in deleted}
        left = [pod for pod in pods if uid_of(pod) not in done and nodes_of([pod]) & names]
        await self._events.tell(left, lambda node, count: leaving_message(node, self.leaving[node], count))
