"""The process: everything wired together, started in order, stopped in the reverse."""

import asyncio
import functools
import logging
import signal
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from llmservice import __version__
from llmservice.catalog.loader import load_catalogue
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.cache import SERVICE_LABEL, ObjectCache, version_of
from llmservice.cluster.connection import Connection, connect
from llmservice.cluster.credentials import load_credentials
from llmservice.cluster.informer import Informer
from llmservice.cluster.kinds import KINDS
from llmservice.cluster.listing import Selection
from llmservice.controllers.ghosts import sweep_forever
from llmservice.controllers.kopf_login import is_served, log_in
from llmservice.controllers.kopf_watch import KopfWatch
from llmservice.converging.references import Manifest, ref_of
from llmservice.reconcilers.llmservice import LLMServiceReconciler
from llmservice.reconcilers.observing import Observer
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.reconcilers.work_queue import WorkQueue
from llmservice.reconcilers.workers import ServiceKey, work
from llmservice.rendering.manifests import CHILD_KINDS
from llmservice.settings import Settings

log = logging.getLogger(__name__)


async def run_operator(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT. Raises `OperatorError` when there are no credentials to start with."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    credentials = await load_credentials(context=settings.context)
    log.info("llmservice %s on %s, namespaces: %s", __version__, credentials.server, settings.namespaces or "all")
    async with connect(credentials) as connection:
        await _operate(_wire(settings, connection), settings, stop)
    log.info("stopped")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    api: ApiServer
    cache: ObjectCache
    queue: WorkQueue[ServiceKey]
    informers: tuple[Informer, ...]
    reconciler: LLMServiceReconciler
    kopf: KopfWatch


def _wire(settings: Settings, connection: Connection) -> _Parts:
    """Every part, made and connected; nothing runs yet."""
    api, cache, queue = ApiServer(connection), ObjectCache(), WorkQueue[ServiceKey]()
    cache.listen(functools.partial(enqueue_owner, queue))
    informers = tuple(
        Informer(
            connection=connection,
            cache=cache,
            selection=Selection(kind=kind, namespace=namespace, label_selector=SERVICE_LABEL),
        )
        for kind in (*CHILD_KINDS, "Pod")
        for namespace in settings.namespaces or ("",)
    )
    reconciler = LLMServiceReconciler(
        cluster=api,
        cache=cache,
        observer=Observer(cluster=api, cache=cache, child_kinds=CHILD_KINDS),
        plan=CataloguePlanner(load_catalogue()),
        now=lambda: datetime.now(UTC),
    )
    kopf = KopfWatch(
        observe=functools.partial(remember, cache),
        login=functools.partial(log_in, settings.context),
        served=functools.partial(is_served, settings.context),
        namespaces=settings.namespaces,
    )
    return _Parts(api=api, cache=cache, queue=queue, informers=informers, reconciler=reconciler, kopf=kopf)


async def _operate(parts: _Parts, settings: Settings, stop: asyncio.Event) -> None:
    """Caches first, then workers: nothing is written before it is known what is there."""
    tasks = _start(informer.run() for informer in parts.informers)
    parts.kopf.start()
    try:
        await _first(stop.wait(), asyncio.gather(*(informer.synced.wait() for informer in parts.informers)))
        if not stop.is_set():
            log.info("caches are filled; %d workers start", settings.workers)
            tasks += _start(work(parts.queue, parts.reconciler) for _ in range(settings.workers))
            tasks += _start([sweep_forever(parts.api, parts.cache, settings.namespaces)])
            await stop.wait()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await parts.kopf.stop()


def remember(cache: ObjectCache, body: dict[str, Any], deleted: bool) -> None:  # noqa: FBT001
    """Keep what a watch says about an LLMService."""
    kind = KINDS["LLMService"]
    manifest = {**body, "apiVersion": kind.api_version, "kind": kind.kind}
    if deleted:
        cache.drop(ref_of(manifest), version_of(manifest))
    else:
        cache.put(manifest)


def enqueue_owner(queue: WorkQueue[ServiceKey], before: Manifest | None, after: Manifest | None) -> None:
    """Queue the LLMService a changed object is, or belongs to; our own status writes change nothing for it."""
    manifest = after or before
    if manifest is None or (before and after and _says_the_same(before, after)):
        return
    metadata = manifest["metadata"]
    name = metadata["name"] if manifest["kind"] == "LLMService" else metadata["labels"][SERVICE_LABEL]
    queue.add((metadata["namespace"], name))


def _says_the_same(before: Manifest, after: Manifest) -> bool:
    if after["kind"] != "LLMService":
        return False
    asked = ("uid", "generation", "deletionTimestamp")
    return all(before["metadata"].get(key) == after["metadata"].get(key) for key in asked)


def _start(coroutines: Iterable[Any]) -> list[asyncio.Task[Any]]:
    return [asyncio.create_task(coroutine) for coroutine in coroutines]


async def _first(*awaitables: Awaitable[Any]) -> None:
    """Wait for whichever ends first; end the others."""
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
