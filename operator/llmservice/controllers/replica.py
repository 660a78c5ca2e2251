"""One replica of the operator: its leadership, its metrics and its endpoints."""

import functools
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.cluster.leadership.leader_only import LeaderOnly
from llmservice.cluster.leadership.lease import ApiServerLease, Election
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.watching.history import History
from llmservice.cluster.watching.informer import Informer
from llmservice.cluster.watching.one_history import OneHistory
from llmservice.controllers.endpoints.explaining import Explainer
from llmservice.controllers.endpoints.health import LoopPulse, alive_checks, ready_checks, refusals
from llmservice.controllers.endpoints.routes import Probes, metrics_server, probe_server
from llmservice.controllers.kopf_thread.watch import KopfWatch
from llmservice.controllers.logs import Logged
from llmservice.controllers.metrics.instruments import CONTROLLER, Metrics
from llmservice.controllers.metrics.measuring import Measured, MeasuredQueue, count_requests
from llmservice.controllers.metrics.process_series import ProcessSeries
from llmservice.controllers.metrics.scaling_series import ScalingSeries
from llmservice.controllers.metrics.service_series import ServiceSeries
from llmservice.controllers.served_namespaces import ServedNamespaces
from llmservice.objects.names import LEASE
from llmservice.objects.references import Ref
from llmservice.reconcilers.scaling.service_states import ServiceStates
from llmservice.reconcilers.workers import Reconcile, ServiceKey
from llmservice.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """Everything of a replica besides its work. `election` None: it is the only one and always leads."""

    election: Election | None = None
    metrics: Metrics = field(default_factory=Metrics)
    loop: LoopPulse = field(default_factory=LoopPulse)

    def queue(self) -> MeasuredQueue:
        """The work queue; one per replica."""
        return MeasuredQueue(self.metrics)

    def writing(self, cluster: Cluster, connection: Connection, cache: ObjectCache, history: History) -> Cluster:
        """The cluster for writers: only in the present history and while this replica leads; requests are counted."""
        count_requests(connection.session, self.metrics)
        cluster = OneHistory(cluster, cache, history)
        return LeaderOnly(cluster, self.election) if self.election else cluster

    def watched(self, reconcile: Reconcile, cache: ObjectCache) -> Reconcile:
        """The reconciler with metrics, and with the resource's name in its log lines."""
        return Logged(Measured(reconcile, self.metrics), functools.partial(_generation, cache))

    @asynccontextmanager
    async def endpoints(
        self,
        settings: Settings,
        cache: ObjectCache,
        informers: tuple[Informer, ...],
        kopf: KopfWatch,
        states: ServiceStates,
    ) -> AsyncIterator[None]:
        """/healthz and /readyz, /metrics and /explain as long as the block runs; nothing on a port 0."""
        probes = Probes(
            alive=alive_checks(informers, kopf, self.loop),
            ready=ready_checks(informers, kopf, ServedNamespaces(informers)),
            remarks=refusals(informers),
        )
        async with AsyncExitStack() as servers:
            if settings.probe_port:
                await servers.enter_async_context(probe_server(settings.probe_port, probes))
            if settings.metrics_port:
                self._register(cache, informers, kopf, states)
                explain = Explainer(states=states, leads=self.leads)
                await servers.enter_async_context(metrics_server(settings, self.metrics.registry, explain))
            yield

    def _register(
        self, cache: ObjectCache, informers: tuple[Informer, ...], kopf: KopfWatch, states: ServiceStates
    ) -> None:
        """What is read off the state when somebody asks."""
        services, registry = ServiceSeries(), self.metrics.registry
        cache.listen(services.observe)
        registry.register(services)
        registry.register(
            ProcessSeries(informers=informers, kopf=kopf, loop=self.loop, lease=LEASE, leadership=self.election)
        )
        registry.register(ScalingSeries(states))

    def leads(self) -> bool:
        """Whether this replica leads now; may be called from any thread."""
        return self.election is None or self.election.is_leader()

    async def lead(self, work: Callable[[], Coroutine[Any, Any, object]], workers: int) -> None:
        """Run `work` whenever this replica leads, until cancelled."""
        self.metrics.max_workers.labels(CONTROLLER).set(workers)
        if self.election is None:
            await work()
        else:
            await self.election.run(work)


def election_in(namespace: str, connection: Connection) -> Election | None:
    """The election by the Lease in a namespace; None without one. Its identity is unique to this run."""
    if not namespace:
        return None
    store = ApiServerLease(connection=connection, namespace=namespace, name=LEASE)
    return Election(store=store, identity=f"{socket.gethostname()}_{secrets.token_hex(4)}")


def _generation(cache: ObjectCache, key: ServiceKey) -> int:
    body = cache.get(Ref("LLMService", *key))
    return int(body["metadata"].get("generation", 0)) if body else 0
