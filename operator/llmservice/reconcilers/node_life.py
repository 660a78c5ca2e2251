"""Writes to the pods themselves that they start, so that nobody empties their node meanwhile."""

import logging
from dataclasses import dataclass
from datetime import datetime

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.node_life import SHIELD, shields
from llmservice.converging.observed import Observed
from llmservice.errors import OperatorError
from llmservice.objects.names import NODE_LIFE
from llmservice.objects.references import Manifest, ref_of, uid_of
from llmservice.planning.service_plan import ServicePlan

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NodeLife:
    """Two writes for each start of a pod: one when it is placed, one when it is ready."""

    cluster: Cluster
    cache: ObjectCache

    async def shield(self, plan: ServicePlan, observed: Observed, now: datetime) -> None:
        """Annotate pods that start, and free those that have; one that cannot be written is tried in a later pass."""
        longest = plan.rollout.progress_deadline_seconds
        for pod, shielded in shields(observed.pods, plan.pod.annotations, longest, now, observed.workers):
            try:
                self.cache.put(await self.cluster.apply(_intent(pod, shielded=shielded), manager=NODE_LIFE))
            except OperatorError as error:
                log.info("%s: it is not written that the pod starts: %s", ref_of(pod), error)


def _intent(pod: Manifest, *, shielded: bool) -> Manifest:
    """All that we state of a pod; the UID keeps another one of its name from being changed."""
    ref = ref_of(pod)
    annotations = {"annotations": dict(SHIELD)} if shielded else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": ref.name, "namespace": ref.namespace, "uid": uid_of(pod), **annotations},
    }
