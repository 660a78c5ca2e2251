"""The process: what starts in which order, and stops in the reverse."""

import asyncio
import functools
import logging
import signal
from collections.abc import Awaitable
from typing import Any

from llmservice import __version__
from llmservice.cluster.leadership.lease_record import LeaseTiming
from llmservice.cluster.transport.connection import connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.controllers.memory import settle_often
from llmservice.controllers.replica import Replica, election_in
from llmservice.controllers.scaling import scaling_sources
from llmservice.controllers.wiring import Parts, wire
from llmservice.reconcilers.workers import work
from llmservice.settings import Settings

log = logging.getLogger(__name__)

_NOT_SERVED = "make the namespace and its RoleBinding again, or take it out of LLMSERVICE_NAMESPACES"


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
        parts = wire(settings, connection, replica, sources)
        states = parts.autoscaler.services.states
        async with replica.endpoints(settings, parts.cache, parts.informers, parts.kopf, states):
            await _operate(parts, settings, stop)
    log.info("stopped")


async def _operate(parts: Parts, settings: Settings, stop: asyncio.Event) -> None:
    """Watch LLMServices with kopf, and do everything else, until `stop` is set."""
    parts.kopf.start()
    try:
        await _first(stop.wait(), _work(parts, settings))
    finally:
        await parts.kopf.stop()


async def _work(parts: Parts, settings: Settings) -> None:
    """Caches first, then leadership, then workers: nothing is written before the caches are filled.

    None of these tasks ends by itself: one that does is a defect, raised here, and the process ends to be restarted.
    """
    async with asyncio.TaskGroup() as group:
        for informer in parts.informers:
            group.create_task(informer.run())
        if parts.activation and parts.activation.informer:
            group.create_task(parts.activation.informer.run())
        for part in (parts.catalogue, parts.platform, parts.replica.loop, parts.rereading):
            group.create_task(part.run())
        await asyncio.gather(parts.namespaces.settled(), parts.catalogue.settled.wait(), parts.platform.settled.wait())
        log.info("caches are filled")
        if unlisted := parts.namespaces.unlisted():
            log.warning("not served, because their objects may not be listed: %s; %s", ", ".join(unlisted), _NOT_SERVED)
        group.create_task(parts.resync.run())
        group.create_task(settle_often())
        await parts.replica.lead(functools.partial(_lead, parts, settings.workers), settings.workers)


async def _lead(parts: Parts, workers: int) -> None:
    """What only the leader does. A term begins with every resource: the last one may have ended within a pass."""
    log.info("%d workers start", workers)
    for body in parts.cache.of_kind("LLMService"):
        parts.queue.add((body["metadata"]["namespace"], body["metadata"]["name"]))
    async with asyncio.TaskGroup() as group:
        group.create_task(parts.autoscaler.run())
        group.create_task(parts.stalls.run())
        group.create_task(parts.nodes.run())
        if parts.activation:
            group.create_task(parts.activation.polling.run())
        group.create_task(parts.accounts.run())
        for _ in range(workers):
            group.create_task(work(parts.queue, parts.reconcile))


async def _first(*awaitables: Awaitable[Any]) -> None:
    """Wait for whichever ends first; end the others. Raises what it raised."""
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    for task in done:
        task.result()
