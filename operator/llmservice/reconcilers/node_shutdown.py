"""Deletes the replicas of a node that is shut down, so that nobody asks them any more.

Their budget is not asked: the kubelet ends them anyway, all at once. So Kubernetes itself deletes what a taint evicts.
"""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.node_shutdown import to_delete
from llmservice.errors import OperatorError, Refused
from llmservice.objects.references import Manifest, ref_of, uid_of
from llmservice.reconcilers.workloads import pods_in_cache, workload_in_cache

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class NodeShutdowns:
    """It needs the right to delete pods, which is optional: without it they stay where they are.

    `unfinished` says whether some could not be deleted the last time, and may be soon.
    """

    cluster: Cluster
    cache: ObjectCache
    unfinished: bool = field(default=False, init=False)
    _told_of_refusal: bool = field(default=False, init=False)

    async def leave(self, nodes: frozenset[str]) -> list[Manifest]:
        """Delete all replicas on these nodes; returns those that were.

        One that is being deleted is left alone. One that could not be deleted is found again by the next look.
        """
        self.unfinished = False
        doomed = to_delete(self._replicas(), nodes) if nodes else []
        done = await asyncio.gather(*map(self._delete, doomed))
        return [pod for pod, deleted in zip(doomed, done, strict=True) if deleted]

    def _replicas(self) -> Iterator[Manifest]:
        """The pods of all services, by the UIDs of their owners."""
        for body in self.cache.of_kind("LLMService"):
            yield from pods_in_cache(self.cache, workload_in_cache(self.cache, body))

    async def _delete(self, pod: Manifest) -> bool:
        try:
            await self.cluster.delete(ref_of(pod), uid=uid_of(pod))
        except Refused as refusal:
            self._tell(pod, refusal)
            return False
        except OperatorError as error:
            log.warning("%s, on a node that is shut down: %s", ref_of(pod), error)
            self.unfinished = True
            return False
        log.info("%s: deleted, because its node is shut down", ref_of(pod))
        return True

    def _tell(self, pod: Manifest, refusal: Refused) -> None:
        """Logged once: the right is optional, and may be withheld for good."""
        if not self._told_of_refusal:
            self._told_of_refusal = True
            log.info("%s may not be deleted, though its node is shut down: %s", ref_of(pod), refusal)
