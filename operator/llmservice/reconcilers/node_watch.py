"""Looks at the nodes that replicas run on: which of them are going is told, and decides who leaves first.

Replicas on a node that is shut down are deleted (node_shutdown.py). Such a node is found within seconds, because a pod
that its node controller marks as not ready is a reason to look at once.

It needs the right to list nodes, which is optional: without it nothing changes. A node is asked for by its name, which
costs the API server one read; beyond a few dozen nodes one list of all is cheaper.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.events import event
from llmservice.converging.leaving_nodes import leaving_message, nodes_of, why_leaving
from llmservice.converging.node_shutdown import is_marked, is_shut_down, shutdown_message
from llmservice.errors import OperatorError, Refused
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, Ref, uid_of
from llmservice.reconcilers.node_shutdown import NodeShutdowns
from llmservice.reconcilers.workers import ServiceKey

log = logging.getLogger(__name__)

_PERIOD_SECONDS = 30.0
_LEAST_PERIOD_SECONDS = 2.0
"""However often pods are marked: marks come together, and nobody may have the API server asked without end."""
_REFUSED_PERIOD_SECONDS = 600.0
_ASKED_BY_NAME = 50


@dataclass(slots=True, kw_only=True)
class NodeWatch:
    """Watches while this process leads. `leaving` says why, by name of the node; it is replaced whole."""

    cluster: Cluster
    cache: ObjectCache
    now: Callable[[], datetime]
    least_period_seconds: float = _LEAST_PERIOD_SECONDS
    leaving: Mapping[str, str] = field(default_factory=dict)
    _shutdowns: NodeShutdowns = field(init=False)
    _marked: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def __post_init__(self) -> None:
        self._shutdowns = NodeShutdowns(cluster=self.cluster, cache=self.cache)

    def notice(self, before: Manifest | None, after: Manifest | None) -> None:
        """A listener of the cache: a node that fails is looked at soon."""
        if is_marked(before, after):
            self._marked.set()

    async def run(self) -> NoReturn:
        """One term of leadership, until cancelled."""
        self.leaving = {}
        first = True
        while True:
            self._marked.clear()
            await self._rest(await self.look(tell=not first))
            first = False

    async def _rest(self, seconds: float) -> None:
        """Until the next look is due. Who may not look gets no reason to look earlier."""
        if seconds >= _REFUSED_PERIOD_SECONDS:
            await asyncio.sleep(seconds)
            return
        await asyncio.sleep(self.least_period_seconds)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._marked.wait(), seconds - self.least_period_seconds)

    async def look(self, *, tell: bool = True) -> float:
        """Look once, and tell of nodes that were found going just now; returns the seconds until the next look.

        A new leader does not tell of those that it finds going: its predecessor has.
        """
        pods = [pod for pod in self.cache.of_kind("Pod") if NAME_LABEL in (pod["metadata"].get("labels") or {})]
        try:
            nodes = await self._nodes(nodes_of(pods))
        except Refused:
            self.leaving = {}
            return _REFUSED_PERIOD_SECONDS
        except OperatorError as error:
            log.warning("nodes: %s", error)
            return _PERIOD_SECONDS
        before, self.leaving = (
            self.leaving,
            {node["metadata"]["name"]: why for node in nodes if (why := why_leaving(node))},
        )
        deleted = await self._shutdowns.leave(
            frozenset(node["metadata"]["name"] for node in nodes if is_shut_down(node))
        )
        await self._tell(deleted, shutdown_message)
        if tell:
            await self._tell_leaving(frozenset(self.leaving) - before.keys(), pods, deleted)
        return self.least_period_seconds if self._shutdowns.unfinished else _PERIOD_SECONDS

    async def _nodes(self, names: frozenset[str]) -> list[Manifest]:
        if len(names) > _ASKED_BY_NAME:
            return [node for node in await self.cluster.list("Node") if node["metadata"]["name"] in names]
        found = [await self.cluster.list("Node", field_selector=f"metadata.name={name}") for name in sorted(names)]
        return [node for nodes in found for node in nodes]

    async def _tell_leaving(self, names: frozenset[str], pods: Iterable[Manifest], deleted: Iterable[Manifest]) -> None:
        """Of nodes that are going, where nothing was done about it yet."""
        done = {uid_of(pod) for pod in deleted}
        left = [pod for pod in pods if uid_of(pod) not in done and nodes_of([pod]) & names]
        await self._tell(left, lambda node, count: leaving_message(node, self.leaving[node], count))

    async def _tell(self, pods: Iterable[Manifest], message: Callable[[str, int], str]) -> None:
        """One Event for each service and node. `message` takes the node and how many replicas it has or had."""
        replicas: Counter[tuple[ServiceKey, str]] = Counter()
        for pod in pods:
            metadata = pod["metadata"]
            for node in nodes_of([pod]):
                replicas[(metadata["namespace"], metadata["labels"][NAME_LABEL]), node] += 1
        for (key, node), count in sorted(replicas.items()):
            if (body := self.cache.get(Ref("LLMService", *key))) is not None:
                await self._record(body, message(node, count))

    async def _record(self, body: Manifest, message: str) -> None:
        told = event(body, kind="Normal", reason=Reason.NODE_LEAVING, message=message, now=self.now())
        try:
            await self.cluster.record(told)
        except OperatorError as error:
            log.warning("%s: event not written: %s", body["metadata"]["name"], error)
