"""What a decision does to the cluster: the Deployment's replicas, who of the pods leaves first, and events."""

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.decision import Decision
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.deletion_cost import costs_to_write
from llmservice.converging.events import event
from llmservice.converging.redaction import redacted
from llmservice.converging.replicas import owners_of_replicas
from llmservice.converging.scaled_pods import DELETION_COST_ANNOTATION, ScaledPod
from llmservice.errors import OperatorError, Terminating
from llmservice.objects.names import AUTOSCALER
from llmservice.objects.references import Manifest, ref_of, uid_of
from llmservice.objects.workloads import DEPLOYMENT
from llmservice.reconcilers.scaling.scaled_services import ScaledService

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleWriter:
    """Writes what was decided. `now` is the clock (UTC), `leaving_nodes` names the nodes that are going."""

    cluster: Cluster
    cache: ObjectCache
    now: Callable[[], datetime]
    leaving_nodes: Callable[[], Collection[str]] = tuple

    async def apply(self, service: ScaledService, decision: Decision, live: int, requests: Mapping[str, float]) -> None:
        """Set the replicas where another number is asked for than the `live` one, or the field is not ours yet.

        Of groups the last ones leave first, whatever they do: their controller knows no other order.

        `requests` are those in flight, by name of the pod. Raises what `Cluster` raises.
        """
        deployment, replicas = service.deployment, decision.replicas
        if replicas == live and AUTOSCALER in owners_of_replicas(deployment):
            return
        if replicas < live and deployment["kind"] == DEPLOYMENT:
            await self._mark_leaving(service, replicas, requests)
        await self._write(deployment, replicas)
        if replicas != live:
            log.info("%s/%s: %s", *service.key, decision.message)
            reason = Reason.SCALED_UP if replicas > live else Reason.SCALED_DOWN
            await self.record(service.body, "Normal", reason, decision.message)

    async def _write(self, workload: Manifest, replicas: int) -> None:
        """Through `/scale`; of groups in the object itself: their Scale does not say whose they are.

        So the admission policy of the operator would have to let it scale those of others (SECURITY.md).
        """
        if workload["kind"] == DEPLOYMENT:
            await self.cluster.apply_scale(ref_of(workload), replicas, manager=AUTOSCALER, uid=uid_of(workload))
            return
        metadata = {key: workload["metadata"][key] for key in ("name", "namespace", "uid")}
        intent = {**{key: workload[key] for key in ("apiVersion", "kind")}, "metadata": metadata}
        await self.cluster.apply({**intent, "spec": {"replicas": replicas}}, manager=AUTOSCALER)

    async def record(self, body: Manifest, kind: str, reason: Reason, message: str) -> None:
        """Write an event; one that cannot be written leaves a line in the log."""
        try:
            shown = redacted(message)
            await self.cluster.record(event(body, kind=kind, reason=reason, message=shown, now=self.now()))
        except Terminating:
            return
        except OperatorError as error:
            log.warning("%s: event not written: %s", ref_of(body), error)

    async def _mark_leaving(self, service: ScaledService, replicas: int, requests: Mapping[str, float]) -> None:
        """Let the idlest go first. A pod that is gone, or may not be written, changes nothing but the order."""
        for pod, cost in costs_to_write(service.pods, requests, replicas, self.leaving_nodes()).items():
            try:
                live = await self.cluster.apply(_with_cost(pod, cost, service.key[0]), manager=AUTOSCALER)
            except OperatorError as error:
                log.warning("%s/%s: the order of leaving pods is not set: %s", *service.key, error)
                return
            self.cache.put(live)


def _with_cost(pod: ScaledPod, cost: int | None, namespace: str) -> Manifest:
    """All that we state of a pod; the UID keeps another one of its name from being made or changed."""
    annotations = {} if cost is None else {"annotations": {DELETION_COST_ANNOTATION: str(cost)}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": pod.name, "namespace": namespace, "uid": pod.uid, **annotations},
    }
