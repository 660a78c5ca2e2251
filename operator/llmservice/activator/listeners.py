"""One listening socket for each port that a service has."""

import asyncio
import functools
import logging
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field

from aiohttp import web

from llmservice.activator.answering import Answering
from llmservice.activator.bounds import BUFFER_BYTES, Bounds
from llmservice.activator.connection import ClientConnection
from llmservice.activator.connections import Connections

log = logging.getLogger(__name__)

_WAITING = 4096
"""Connections that the kernel keeps until they are accepted; net.core.somaxconn bounds it."""

_ACCEPTED_AT_ONCE = 32
"""asyncio accepts as many of one port before it looks at the next."""


@dataclass(slots=True)
class Listeners:
    """Listens on `host`; empty: on all addresses."""

    answering: Answering
    bounds: Bounds
    connections: Connections
    host: str = ""
    _open: dict[int, asyncio.Server] = field(default_factory=dict)
    _failed: set[int] = field(default_factory=set)

    @property
    def ports(self) -> frozenset[int]:
        """Those that are open."""
        return frozenset(self._open)

    async def listen_on(self, ports: Iterable[int]) -> bool:
        """Listen on these and no others; false when one of them cannot be taken."""
        wanted = set(ports)
        for port in self._open.keys() - wanted:
            self.close(port)
        for port in sorted(wanted - self._open.keys()):
            await self._open_port(port)
        self._failed &= wanted
        return not self._failed

    def close(self, port: int) -> None:
        """Take no more connections; those that wait for nothing end, the others with their answers."""
        self._open.pop(port).close()
        self.connections.hang_up_idle(port)

    def close_all(self) -> None:
        """Take no more connections at all."""
        for port in tuple(self._open):
            self.close(port)

    async def _open_port(self, port: int) -> None:
        server = web.Server(functools.partial(self.answering.answer, port), handler_cancellation=True)
        try:
            listener = listening_socket(self.host, port)
        except OSError as error:
            if port not in self._failed:
                log.warning("port %d cannot be taken: %s; tried again until it can", port, error)
            self._failed.add(port)
            return
        self._failed.discard(port)
        self._open[port] = await asyncio.get_running_loop().create_server(
            lambda: ClientConnection(
                server, port, self.bounds, self.connections, functools.partial(self.answering.turned_away, port)
            ),
            sock=listener,
            backlog=_ACCEPTED_AT_ONCE,
        )
        listener.listen(_WAITING)


def listening_socket(host: str, port: int) -> socket.socket:
    """One socket for IPv4 and IPv6, where there is IPv6. Raises OSError.

    Its connections keep little in the kernel: the rest of a held body stays with the client.
    """
    both = not host and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both or ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, dualstack_ipv6=both)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES // 2)
    listener.settimeout(0)
    return listener
