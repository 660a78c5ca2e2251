"""Tells services of nodes: one Event for each service and node."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.events import event
from llmservice.converging.leaving_nodes import nodes_of
from llmservice.errors import OperatorError
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.workers import ServiceKey

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEvents:
    """Writes Events with the reason `NodeLeaving`; one that cannot be written leaves a line in the log."""

    cluster: Cluster
    cache: ObjectCache
    now: Callable[[], datetime]

    async def tell(self, pods: Iterable[Manifest], message: Callable[[str, int], str]) -> None:
        """Tell of the nodes of these pods. `message` takes the node and how many of them are there."""
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
