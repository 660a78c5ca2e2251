"""The process: everything wired together, started in order, stopped in the reverse."""

import asyncio
import functools
import logging
import signal
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from llmservice import __version__
from llmservice.catalog.loader import load_catalogue
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.event_rate_limiter import EventRateLimiter
from llmservice.cluster.leadership.lease_record import LeaseTiming
from llmservice.cluster.own_namespace import own_namespace
from llmservice.cluster.transport.connection import Connection, connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.cluster.watching.history import History
from llmservice.cluster.watching.informer import Informer
from llmservice.cluster.watching.listing import Selection, node_label_keys
from llmservice.controllers.catalogue_watch import CatalogueWatch
from llmservice.controllers.kopf_thread.login import is_served, log_in
from llmservice.controllers.kopf_thread.watch import KopfWatch
from llmservice.controllers.memory import settle_often
from llmservice.controllers.platform_watch import PlatformWatch
from llmservice.controllers.replica import Replica, election_in
from llmservice.controllers.rereading import Rereading, WithinHistory
from llmservice.controllers.resync import ApiLister, Resync
from llmservice.controllers.scaling import an_autoscaler, scaling_sources
from llmservice.controllers.served_namespaces import OnlyListed, ServedNamespaces
from llmservice.controllers.triggers import enqueue_owner, remember, use_catalogue
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Ref
from llmservice.planning.network import MetricsReaders
from llmservice.reconcilers.llmservice import LLMServiceReconciler
from llmservice.reconcilers.observing import Observer
from llmservice.reconcilers.planner import CataloguePlanner, registry_settings
from llmservice.reconcilers.scaling.autoscaler import Autoscaler
from llmservice.reconcilers.work_queue import WorkQueue
from llmservice.reconcilers.workers import Reconcile, ServiceKey, work
from llmservice.rendering.manifests import CHILD_KINDS
from llmservice.settings import Settings
from llmservice.signals.source import Source

log = logging.getLogger(__name__)

_NOT_SERVED = "make the namespace and its RoleBinding again, or take it out of LLMSERVICE_NAMESPACES"

CATALOGUE_NAME = "llmservice-catalogue"
"""The ConfigMap with the administrator's rows, unless a setting names another."""


async def run_operator(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT. Raises `OperatorError` when there are no credentials to start with."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    credentials = await load_credentials(context=settings.context)
    log.info("llmservice %s on %s, namespaces: %s", __version__, credentials.server, settings.namespaces or "all")
    async with (
        connect(credentials) as connection,
        connect(credentials, timeout_seconds=LeaseTiming().call_seconds) as lease_connection,
        scaling_sources(settings) as sources,
    ):
        replica = Replica(election=election_in(settings.lease_namespace, lease_connection))
        parts = _wire(settings, connection, replica, sources)
        states = parts.autoscaler.services.states
        async with replica.endpoints(settings, parts.cache, parts.informers, parts.kopf, states):
            await _operate(parts, settings, stop)
    log.info("stopped")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    cache: ObjectCache
    queue: WorkQueue[ServiceKey]
    informers: tuple[Informer, ...]
    namespaces: ServedNamespaces
    reconcile: Reconcile
    kopf: KopfWatch
    rereading: Rereading
    resync: Resync
    replica: Replica
    catalogue: CatalogueWatch
    platform: PlatformWatch
    autoscaler: Autoscaler


def _wire(settings: Settings, connection: Connection, replica: Replica, sources: Mapping[str, Source]) -> _Parts:
    """Every part, made and connected; nothing runs yet."""
    cache, queue, history = ObjectCache(), replica.queue(), History()
    resync = Resync(api=ApiLister(connection), cache=cache, history=history, namespaces=settings.namespaces or ("",))
    history.after_outage = resync.wanted.set
    events = EventRateLimiter(dropped=replica.metrics.events_dropped.inc)
    cluster = replica.writing(ApiServer(connection, events), connection, cache, history)
    informers = tuple(
        Informer(
            connection=connection,
            cache=cache,
            selection=Selection(
                kind=kind,
                namespace=namespace,
                label_selector=NAME_LABEL,
                metadata_only=kind == "ReplicaSet",
            ),
            history=history,
        )
        for kind in (*CHILD_KINDS, "ReplicaSet", "Pod")
        for namespace in settings.namespaces or ("",)
    )
    namespaces = ServedNamespaces(informers)
    readers = MetricsReaders(operator=own_namespace(), monitoring=settings.monitoring_namespace)
    planner = CataloguePlanner(load_catalogue(), registry_settings(settings), readers=readers)
    autoscaler = an_autoscaler(cluster, cache, planner, sources, queue.add, replica.metrics.autoscale_seconds.observe)
    reconciler = LLMServiceReconciler(
        cluster=cluster,
        cache=cache,
        observer=Observer(cluster=cluster, cache=cache, child_kinds=CHILD_KINDS),
        plan=planner,
        now=_now,
        scaling=autoscaler.services.states.report,
    )
    cache.listen(functools.partial(enqueue_owner, queue, is_foreign=reconciler.status.is_foreign))
    cache.listen(reconciler.forget)
    catalogue = CatalogueWatch(
        connection=connection,
        cluster=cluster,
        ref=Ref("ConfigMap", *(settings.catalogue or (own_namespace(), CATALOGUE_NAME))),
        use=functools.partial(use_catalogue, planner, cache, queue),
        now=_now,
    )
    replica.metrics.catalogue_problem.set_function(lambda: float(bool(catalogue.problem)))
    platform = PlatformWatch(
        planner=planner,
        label_keys=functools.partial(node_label_keys, connection),
        catalogue_settled=catalogue.settled,
        setting=settings.platform,
    )
    kopf = KopfWatch(
        observe=functools.partial(remember, cache),
        login=functools.partial(log_in, settings.context),
        served=functools.partial(is_served, settings.context),
        relisted=functools.partial(_sweep_ghosts, resync),
        namespaces=settings.namespaces,
    )
    return _Parts(
        cache=cache,
        queue=queue,
        informers=informers,
        namespaces=namespaces,
        reconcile=replica.watched(
            WithinHistory(OnlyListed(reconciler, namespaces, reconciler.refused), history), cache
        ),
        kopf=kopf,
        rereading=Rereading(connection=connection, cache=cache, history=history, kopf=kopf, informers=informers),
        resync=resync,
        replica=replica,
        catalogue=catalogue,
        platform=platform,
        autoscaler=autoscaler,
    )


async def _operate(parts: _Parts, settings: Settings, stop: asyncio.Event) -> None:
    """Watch LLMServices with kopf, and do everything else, until `stop` is set."""
    parts.kopf.start()
    try:
        await _first(stop.wait(), _work(parts, settings))
    finally:
        await parts.kopf.stop()


async def _work(parts: _Parts, settings: Settings) -> None:
    """Caches first, then leadership, then workers: nothing is written before it is known what is there.

    None of these ends by itself: one that does is a defect, raised here, and ends the process for a new start.
    """
    async with asyncio.TaskGroup() as group:
        for informer in parts.informers:
            group.create_task(informer.run())
        for part in (parts.catalogue, parts.platform, parts.replica.loop, parts.rereading):
            group.create_task(part.run())
        await asyncio.gather(parts.namespaces.settled(), parts.catalogue.settled.wait(), parts.platform.settled.wait())
        log.info("caches are filled")
        if unlisted := parts.namespaces.unlisted():
            log.warning("not served, because their objects may not be listed: %s; %s", ", ".join(unlisted), _NOT_SERVED)
        group.create_task(parts.resync.run())
        group.create_task(settle_often())
        await parts.replica.lead(functools.partial(_lead, parts, settings.workers), settings.workers)


async def _lead(parts: _Parts, workers: int) -> None:
    """What only the leader does. A term begins with a look at everything: the last one may have ended within a pass."""
    log.info("%d workers start", workers)
    for body in parts.cache.of_kind("LLMService"):
        parts.queue.add((body["metadata"]["namespace"], body["metadata"]["name"]))
    async with asyncio.TaskGroup() as group:
        group.create_task(parts.autoscaler.run())
        for _ in range(workers):
            group.create_task(work(parts.queue, parts.reconcile))


def _sweep_ghosts(resync: Resync) -> None:
    """Kopf listed, and tells nothing of what vanished since its last list. Before its first one nothing is known."""
    if resync.cache.newest("LLMService") >= 0:
        resync.wanted.set()


def _now() -> datetime:
    return datetime.now(UTC)


async def _first(*awaitables: Awaitable[Any]) -> None:
    """Wait for whichever ends first; end the others. Raises what it raised."""
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    for task in done:
        task.result()
