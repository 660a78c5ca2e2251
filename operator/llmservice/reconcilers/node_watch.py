"""Looks at the nodes that replicas run on: which of them are going is told, and decides who leaves first.

It needs the right to list nodes, which is optional: without it nothing changes. A node is asked for by its name, which
costs the API server one read; beyond a few dozen nodes one list of all is cheaper.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.events import event
from llmservice.converging.leaving_nodes import leaving_message, nodes_of, why_leaving
from llmservice.errors import OperatorError, Refused
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.workers import ServiceKey

log = logging.getLogger(__name__)

_PERIOD_SECONDS = 30.0
_REFUSED_PERIOD_SECONDS = 600.0
_ASKED_BY_NAME = 50
_ASKED_AT_ONCE = 8


@dataclass(slots=True, kw_only=True)
class NodeWatch:
    """Watches while this process leads. `leaving` says why, by name of the node; it is replaced whole."""

    cluster: Cluster
    cache: ObjectCache
    now: Callable[[], datetime]
    leaving: Mapping[str, str] = field(default_factory=dict)

    async def run(self) -> NoReturn:
        """One term of leadership, until cancelled."""
        self.leaving = {}
        first = True
        while True:
            await asyncio.sleep(await self.look(tell=not first))
            first = False

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
        if tell:
            await self._tell({name: why for name, why in self.leaving.items() if name not in before}, pods)
        return _PERIOD_SECONDS

    async def _nodes(self, names: frozenset[str]) -> list[Manifest]:
        if len(names) > _ASKED_BY_NAME:
            return [node for node in await self.cluster.list("Node") if node["metadata"]["name"] in names]
        places = asyncio.Semaphore(_ASKED_AT_ONCE)

        async def of(name: str) -> list[Manifest]:
            async with places:
                return await self.cluster.list("Node", field_selector=f"metadata.name={name}")

        return [node for nodes in await asyncio.gather(*map(of, sorted(names))) for node in nodes]

    async def _tell(self, going: Mapping[str, str], pods: Iterable[Manifest]) -> None:
        """One Event for each service and node."""
        replicas: Counter[tuple[ServiceKey, str]] = Counter()
        for pod in pods:
            for node in nodes_of([pod]) & going.keys():
                metadata = pod["metadata"]
                replicas[(metadata["namespace"], metadata["labels"][NAME_LABEL]), node] += 1
        for (key, node), count in sorted(replicas.items()):
            if (body := self.cache.get(Ref("LLMService", *key))) is not None:
                await self._record(body, leaving_message(node, going[node], count))

    async def _record(self, body: Manifest, message: str) -> None:
        told = event(body, kind="Normal", reason=Reason.NODE_LEAVING, message=message, now=self.now())
        try:
            await self.cluster.record(told)
        except OperatorError as error:
            log.warning("%s: event not written: %s", body["metadata"]["name"], error)
