"""One listening socket for each port that a service has."""

import functools
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field

from aiohttp import web

from llmservice.activator.answering import Answering
from llmservice.activator.bounds import Bounds
from llmservice.activator.connection import ClientConnection
from llmservice.activator.connections import Connections
from llmservice.activator.doors import Door, listening_socket
from llmservice.activator.lobby import Lobby
from llmservice.activator.reception import Expected, Reception

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Listeners:
    """Listens on `host`; empty: on all addresses."""

    answering: Answering
    bounds: Bounds
    connections: Connections
    lobby: Lobby
    host: str = ""
    _open: dict[int, Door] = field(default_factory=dict)
    _failed: set[int] = field(default_factory=set)

    @property
    def ports(self) -> frozenset[int]:
        """Those that are open."""
        return frozenset(self._open)

    def listen_on(self, ports: Iterable[int]) -> bool:
        """Listen on these and no others; false when one of them cannot be taken."""
        wanted = set(ports)
        for port in self._open.keys() - wanted:
            self.close(port)
        for port in sorted(wanted - self._open.keys()):
            self._open_port(port)
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

    def _open_port(self, port: int) -> None:
        server = web.Server(functools.partial(self.answering.answer, port), handler_cancellation=True)
        try:
            listener = listening_socket(self.host, port)
        except OSError as error:
            if port not in self._failed:
                log.warning("port %d cannot be taken: %s; tried again until it can", port, error)
            self._failed.add(port)
            return
        self._failed.discard(port)
        reception = Reception(self.answering.hall, port)

        def made(expected: Expected | None) -> ClientConnection:
            return ClientConnection(server, port, self.bounds, self.connections, reception, expected)

        self._open[port] = Door(listener, reception, self.lobby, made)
        self._open[port].open()
