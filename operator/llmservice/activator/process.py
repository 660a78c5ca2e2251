"""The process: what starts in which order, and how it ends without losing what it holds."""

import asyncio
import logging
import resource
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from llmservice import __version__
from llmservice.activator.answering import Answering
from llmservice.activator.bounds import Bounds
from llmservice.activator.connections import Connections
from llmservice.activator.control import Control
from llmservice.activator.hall import Hall
from llmservice.activator.listeners import Listeners
from llmservice.activator.lobby import Lobby
from llmservice.activator.sending import sender
from llmservice.activator.table import Table
from llmservice.cluster.transport.connection import Connection, connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.cluster.watching.informer import Informer
from llmservice.cluster.watching.listing import Selection
from llmservice.objects.endpoint_slices import CONTROL_PORT
from llmservice.objects.names import NAME_LABEL

log = logging.getLogger(__name__)

_LAST_SECONDS = 5.0
"""Of the grace period: for those who are told that it ends."""

_OWN_FILES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """`host`: the address to listen on, empty for all. `namespaces`: empty for all of the cluster."""

    host: str = ""
    control_port: int = CONTROL_PORT
    context: str = ""
    namespaces: tuple[str, ...] = ()


@dataclass(slots=True)
class Activator:
    """All parts, without what fills `table.slices`. Made by `activator`."""

    bounds: Bounds
    hall: Hall
    listeners: Listeners
    table: Table
    control: Control
    control_port: int

    async def drain(self) -> None:
        """Go on with what is here until all is answered, or the grace period is almost over."""
        loop = asyncio.get_running_loop()
        told = loop.time()
        self.control.ready, self.hall.closing = False, True
        log.info("told to end: %d requests held, %d with replicas", self.hall.held, self.hall.sent)
        grace = max(self.bounds.grace_seconds - _LAST_SECONDS, 0.0)
        await asyncio.sleep(min(self.bounds.accepting_seconds, grace))
        self.listeners.close_all()
        await self.hall.emptied(told + grace - loop.time())
        if self.hall.held:
            log.warning("%d requests are still held: they are told to try again", self.hall.held)
        self.hall.send_away()
        await self.hall.emptied(told + self.bounds.grace_seconds - 1 - loop.time())


@asynccontextmanager
async def activator(bounds: Bounds, host: str = "", control_port: int = 0) -> AsyncIterator[Activator]:
    """An activator that runs as long as the block."""
    hall = Hall(bounds)
    connections = Connections(_most_connections(bounds))
    lobby = Lobby(connections, bounds.idle_seconds)
    async with sender(bounds) as send:
        listeners = Listeners(Answering(hall, send), bounds, connections, lobby, host)
        table, control = Table(hall, listeners), Control(hall.board)
        async with control.served(host, control_port) as port, asyncio.TaskGroup() as group:
            tasks = [group.create_task(part.run()) for part in (hall, table, connections, lobby)]
            try:
                yield Activator(bounds, hall, listeners, table, control, port)
            finally:
                listeners.close_all()
                connections.hang_up_all()
                for task in tasks:
                    task.cancel()


async def run_activator(bounds: Bounds, where: Where) -> None:
    """Run until SIGTERM or Ctrl-C, and afterwards as long as requests are here, within the grace period.

    Raises `OperatorError` when there are no credentials to start with, or the control port is taken.
    """
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    credentials = await load_credentials(context=where.context)
    log.info(
        "llmservice %s activator on %s, namespaces: %s", __version__, credentials.server, where.namespaces or "all"
    )
    async with (
        connect(credentials) as connection,
        activator(bounds, where.host, where.control_port) as running,
        asyncio.TaskGroup() as group,
    ):
        informers = [_informer(connection, running.table, each) for each in where.namespaces or ("",)]
        watching = [group.create_task(each.run()) for each in informers]
        announcing = group.create_task(_announce(informers, running))
        await stop.wait()
        await running.drain()
        for task in (*watching, announcing):
            task.cancel()
    log.info("stopped")


def _informer(connection: Connection, table: Table, namespace: str) -> Informer:
    selection = Selection(kind="EndpointSlice", namespace=namespace, label_selector=NAME_LABEL)
    return Informer(connection=connection, cache=table.slices, selection=selection)


async def _announce(informers: Sequence[Informer], running: Activator) -> None:
    """Ready once every namespace was listed and its ports are open."""
    await asyncio.gather(*(each.synced.wait() for each in informers))
    await running.table.look()
    if not running.hall.closing:
        running.control.ready = True
        log.info("ready: %d ports, control port %d", len(running.listeners.ports), running.control_port)


def _most_connections(bounds: Bounds) -> int:
    """Twice as many as are held, as far as this process may open files; each that is sent on needs two."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    files = hard if hard != resource.RLIM_INFINITY else 2**20
    most = min(2 * bounds.held, (files - _OWN_FILES) // 2)
    if most < bounds.held:
        log.warning("this process may open %d files: at most %d connections, fewer than may be held", files, most)
    return most
