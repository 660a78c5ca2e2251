"""Every part of the process, made and connected; nothing runs yet."""

import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import load_catalogue
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.cluster.device_census import DeviceCensus
from llmservice.cluster.event_rate_limiter import EventRateLimiter
from llmservice.cluster.own_namespace import own_namespace
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.watching.history import History
from llmservice.cluster.watching.informer import Informer
from llmservice.cluster.watching.listing import Selection, node_label_keys
from llmservice.cluster.watching.optional_kinds import OptionalKinds
from llmservice.controllers.activation import Activation, an_activation, slice_kinds
from llmservice.controllers.adapters import adapter_loading
from llmservice.controllers.catalogue_watch import CatalogueWatch
from llmservice.controllers.kopf_thread.login import is_served, log_in
from llmservice.controllers.kopf_thread.watch import KopfWatch
from llmservice.controllers.metrics.activator_series import ActivatorSeries
from llmservice.controllers.metrics.cost_series import CostSeries
from llmservice.controllers.metrics.engine_series import EngineSeries
from llmservice.controllers.platform_watch import PlatformWatch
from llmservice.controllers.replica import Replica
from llmservice.controllers.rereading import Rereading, WithinHistory
from llmservice.controllers.resync import WATCHED, ApiLister, Resync
from llmservice.controllers.scaling import an_autoscaler
from llmservice.controllers.served_namespaces import OnlyListed, ServedNamespaces
from llmservice.controllers.stalls import a_stall_watch
from llmservice.controllers.triggers import enqueue_all, enqueue_owner, remember, use_catalogue
from llmservice.objects.names import CATALOGUE, NAME_LABEL
from llmservice.objects.references import Ref
from llmservice.planning.network import MetricsReaders
from llmservice.reconcilers.accounts import Accounts
from llmservice.reconcilers.downloads import Downloads, download_settings
from llmservice.reconcilers.free_devices import FreeDevices
from llmservice.reconcilers.inspections import Inspections, inspection_settings
from llmservice.reconcilers.llmservice import LLMServiceReconciler
from llmservice.reconcilers.node_watch import NodeWatch
from llmservice.reconcilers.observing import Observer
from llmservice.reconcilers.planner import CataloguePlanner, registry_settings
from llmservice.reconcilers.scaling.autoscaler import Autoscaler
from llmservice.reconcilers.stall_watch import StallWatch
from llmservice.reconcilers.work_queue import WorkQueue
from llmservice.reconcilers.workers import Reconcile, ServiceKey
from llmservice.rendering.manifests import CHILD_KINDS
from llmservice.settings import Settings
from llmservice.signals.download_page import read_download
from llmservice.signals.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What runs, and what it shares."""

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
    stalls: StallWatch
    nodes: NodeWatch
    accounts: Accounts
    activation: Activation | None = None


def wire(settings: Settings, connection: Connection, replica: Replica, sources: Mapping[str, Source]) -> Parts:
    """Every part, made and connected."""
    cache, queue, history = ObjectCache(), replica.queue(), History()
    namespaces = settings.namespaces or ("",)
    kinds, optional = (*WATCHED, *slice_kinds(settings)), OptionalKinds()
    resync = Resync(
        api=ApiLister(connection),
        cache=cache,
        history=history,
        namespaces=namespaces,
        absent=optional.absent_in,
        kinds=kinds,
    )
    history.after_outage = resync.wanted.set
    events = EventRateLimiter(dropped=replica.metrics.events_dropped.inc)
    cluster = replica.writing(ApiServer(connection, events), connection, cache, history)
    informers = _informers(connection, cache, history, optional, namespaces, kinds[1:])
    optional.listen(lambda _, namespace: enqueue_all(queue, cache, namespace))
    served = ServedNamespaces(informers)
    planner = _planner(settings)
    nodes = NodeWatch(cluster=cluster, cache=cache, now=_now)
    cache.listen(nodes.notice)
    measured = replica.metrics.autoscale_seconds.observe
    autoscaler = an_autoscaler(cluster, cache, planner, sources, queue.add, measured, lambda: nodes.leaving)
    activation = an_activation(settings, connection, cache, autoscaler, queue.add)
    stalls = a_stall_watch(settings, cluster, cache, planner, sources, queue.add)
    autoscaler.noted = stalls.note
    replica.metrics.registry.register(EngineSeries(stalls.states))
    ready = activation.sleepers.activators.ready if activation else None
    replica.metrics.registry.register(ActivatorSeries(ready))
    child_kinds = (*CHILD_KINDS, *slice_kinds(settings))
    observer = Observer(cluster=cluster, cache=cache, child_kinds=child_kinds, absent=optional.absent_in)
    reconciler = _reconciler(settings, connection, observer, planner, autoscaler, stalls, activation)
    reconciler.status.started = replica.metrics.observe_start
    accounts = _accounts(cache, planner, queue.add)
    stalls.noted, reconciler.status.completed = accounts.note, accounts.with_cost
    replica.metrics.registry.register(CostSeries(accounts))
    cache.listen(functools.partial(enqueue_owner, queue, is_foreign=reconciler.status.is_foreign))
    cache.listen(reconciler.forget)
    use = functools.partial(use_catalogue, planner, cache, queue)
    catalogue = _catalogue(settings, connection, cluster, history, use)
    replica.metrics.catalogue_problem.set_function(lambda: float(bool(catalogue.problem)))
    kopf = _kopf(settings, cache, resync)
    listed = OnlyListed(reconciler, served, reconciler.refused)
    return Parts(
        cache=cache,
        queue=queue,
        informers=informers,
        namespaces=served,
        reconcile=replica.watched(WithinHistory(listed, history), cache),
        kopf=kopf,
        rereading=Rereading(connection=connection, cache=cache, history=history, kopf=kopf, informers=informers),
        resync=resync,
        replica=replica,
        catalogue=catalogue,
        platform=_platform(settings, connection, planner, catalogue),
        autoscaler=autoscaler,
        stalls=stalls,
        nodes=nodes,
        activation=activation,
        accounts=accounts,
    )


def _informers(
    connection: Connection,
    cache: ObjectCache,
    history: History,
    optional: OptionalKinds,
    namespaces: tuple[str, ...],
    kinds: tuple[str, ...],
) -> tuple[Informer, ...]:
    """One for each kind and each namespace; of ReplicaSets by their metadata alone."""
    return tuple(
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
            optional=optional,
        )
        for kind in kinds
        for namespace in namespaces
    )


def _planner(settings: Settings) -> CataloguePlanner:
    readers = MetricsReaders(operator=own_namespace(), monitoring=settings.monitoring_namespace)
    return CataloguePlanner(
        load_catalogue(), registry_settings(settings), readers=readers, activator=bool(settings.activator)
    )


def _reconciler(
    settings: Settings,
    connection: Connection,
    observer: Observer,
    planner: CataloguePlanner,
    autoscaler: Autoscaler,
    stalls: StallWatch,
    activation: Activation | None,
) -> LLMServiceReconciler:
    """Only an operator of the whole cluster counts free devices: the pods of every namespace hold them."""
    cluster, cache = observer.cluster, observer.cache
    inspections = Inspections(cluster=cluster, registry=planner.registry, settings=inspection_settings(settings))
    downloads = Downloads(
        cluster=cluster,
        registry=planner.registry,
        settings=download_settings(settings),
        progress=read_download,
        now=_now,
    )
    return LLMServiceReconciler(
        cluster=cluster,
        cache=cache,
        observer=observer,
        plan=planner,
        now=_now,
        scaling=autoscaler.services.states.report,
        engine=stalls.condition,
        inspect=inspections.facts_of,
        fetch=downloads.weights_of,
        fetch_beside=downloads.beside_of,
        adapters=adapter_loading(),
        sleepers=activation.sleepers if activation else None,
        free=None if settings.namespaces else FreeDevices(DeviceCensus(connection), time.monotonic),
    )


def _accounts(cache: ObjectCache, planner: CataloguePlanner, changed: Callable[[ServiceKey], None]) -> Accounts:
    accounts = Accounts(cache=cache, catalogue=lambda: planner.catalogue, clock=time.time, changed=changed)
    accounts.listen_to(cache)
    return accounts


def _catalogue(
    settings: Settings, connection: Connection, cluster: Cluster, history: History, use: Callable[[Catalogue], None]
) -> CatalogueWatch:
    return CatalogueWatch(
        connection=connection,
        cluster=cluster,
        ref=Ref("ConfigMap", *(settings.catalogue or (own_namespace(), CATALOGUE))),
        use=use,
        now=_now,
        history=history,
    )


def _platform(
    settings: Settings, connection: Connection, planner: CataloguePlanner, catalogue: CatalogueWatch
) -> PlatformWatch:
    return PlatformWatch(
        planner=planner,
        label_keys=functools.partial(node_label_keys, connection),
        catalogue_settled=catalogue.settled,
        setting=settings.platform,
    )


def _kopf(settings: Settings, cache: ObjectCache, resync: Resync) -> KopfWatch:
    return KopfWatch(
        observe=functools.partial(remember, cache),
        login=functools.partial(log_in, settings.context),
        served=functools.partial(is_served, settings.context),
        relisted=functools.partial(_resync_after_list, resync),
        namespaces=settings.namespaces,
    )


def _resync_after_list(resync: Resync) -> None:
    """Kopf listed, and does not report what vanished since its last list. Before its first one nothing is cached."""
    if resync.cache.newest("LLMService") >= 0:
        resync.wanted.set()


def _now() -> datetime:
    return datetime.now(UTC)
