"""The listening socket of one port, and who is accepted there."""

import asyncio
import logging
import socket
from dataclasses import dataclass

from llmservice.activator.bounds import BUFFER_BYTES
from llmservice.activator.lobby import Lobby, Made
from llmservice.activator.reception import Reception

log = logging.getLogger(__name__)

_WAITING = 4096
"""Connections that the kernel keeps until they are accepted; net.core.somaxconn bounds it."""

_ACCEPTED_AT_ONCE = 256
"""Of one port, before the next one is looked at: some ten milliseconds where all are turned away."""

_PAUSE_SECONDS = 1.0
"""When the process may open no more files, or the kernel has no memory."""


@dataclass(slots=True, eq=False, repr=False)
class Door:
    """Open from `open` to `close`."""

    listener: socket.socket
    reception: Reception
    lobby: Lobby
    made: Made

    def open(self) -> None:
        """Accept from now on."""
        if self.listener.fileno() >= 0:
            asyncio.get_running_loop().add_reader(self.listener, self._accept)

    def close(self) -> None:
        """Accept nobody any more."""
        asyncio.get_running_loop().remove_reader(self.listener)
        self.listener.close()

    def _accept(self) -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                accepted, _address = self.listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError as error:
                self._pause(error)
                return
            accepted.settimeout(0)
            self.lobby.came(accepted, self.reception, self.made)

    def _pause(self, error: OSError) -> None:
        log.warning("port %d: no connection can be accepted for a second: %s", self.reception.port, error)
        loop = asyncio.get_running_loop()
        loop.remove_reader(self.listener)
        loop.call_later(_PAUSE_SECONDS, self.open)


def listening_socket(host: str, port: int) -> socket.socket:
    """One socket for IPv4 and IPv6, where there is IPv6. Raises OSError.

    Its connections keep little in the kernel: the rest of a held body stays with the client, and that of an answer
    with the replica.
    """
    both = not host and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both or ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, dualstack_ipv6=both, backlog=_WAITING)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES // 2)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
    listener.settimeout(0)
    return listener
