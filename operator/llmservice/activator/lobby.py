"""Connections before their first request.

Who says nothing costs a socket and no more, and who comes to a full line is told so before anything is made for it:
thousands at once wait for nobody who is let in.
"""

import asyncio
import functools
import socket
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from llmservice.activator.connections import Connections
from llmservice.activator.reception import Expected, Reception

Made = Callable[[Expected | None], asyncio.Protocol]
"""The protocol of a connection that is let in."""

_PEEKED = 4096
"""Bytes of a request that are looked at; most heads are shorter."""

_LET_IN_AT_ONCE = 16
"""Letting one in takes as long as turning ten away: between so many, others are looked at."""

_LOOKS_SECONDS = 1.0

_READ = 64 * 1024
_LINGER_SECONDS = 1.0
"""Reading on after a refusal: a connection that is closed with bytes unread would lose it on its way."""


@dataclass(slots=True, eq=False, repr=False)
class Caller:
    """A connection in the lobby. `since`: the loop's time when it came, or was turned away."""

    socket: socket.socket
    reception: Reception
    made: Made
    lobby: "Lobby"
    since: float
    is_idle: bool = True
    is_gone: bool = False

    def hang_up(self) -> None:
        """End it now."""
        self.lobby.end(self)


@dataclass(slots=True)
class Lobby:
    """All ports' callers. `idle_seconds`: without a byte, until one is hung up on."""

    connections: Connections
    idle_seconds: float
    _silent: dict[Caller, None] = field(default_factory=dict)
    _told: deque[Caller] = field(default_factory=deque)
    _let_in: OrderedDict[int, deque[tuple[Caller, Expected | None]]] = field(default_factory=OrderedDict)
    _tasks: set[asyncio.Task[object]] = field(default_factory=set)

    def came(self, accepted: socket.socket, reception: Reception, made: Made) -> None:
        """A connection was accepted. Most have said something by then."""
        caller = Caller(accepted, reception, made, self, asyncio.get_running_loop().time())
        self.connections.came(reception.port, caller)
        if not self._heard(caller) and accepted.fileno() >= 0:
            self._silent[caller] = None
            asyncio.get_running_loop().add_reader(accepted, self._heard, caller)

    def end(self, caller: Caller) -> None:
        """Close its connection, if it is open yet."""
        if caller.socket.fileno() >= 0:
            self._forget(caller)
            caller.socket.close()

    async def run(self) -> NoReturn:
        """Hang up on those who have said nothing for too long; never returns."""
        while True:
            await asyncio.sleep(_LOOKS_SECONDS)
            now = asyncio.get_running_loop().time()
            while (first := next(iter(self._silent), None)) and now - first.since >= self.idle_seconds:
                self.end(first)

    def _heard(self, caller: Caller) -> bool:
        """Look at the first bytes; false while there are none."""
        try:
            begun = caller.socket.recv(_PEEKED, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            begun = b""
        if not begun:
            self.end(caller)
        elif told := caller.reception.turned_away(begun):
            self._turn_away(caller, told)
        else:
            self._wave_in(caller, caller.reception.expect(begun))
        return True

    def _turn_away(self, caller: Caller, told: bytes) -> None:
        loop = asyncio.get_running_loop()
        try:
            caller.socket.send(told)
            caller.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.end(caller)
            return
        self._silent.pop(caller, None)
        caller.since = loop.time()
        loop.add_reader(caller.socket, self._drain, caller)
        if not self._told:
            loop.call_later(_LINGER_SECONDS, self._part)
        self._told.append(caller)

    def _drain(self, caller: Caller) -> None:
        try:
            ended = not caller.socket.recv(_READ)
        except BlockingIOError:
            return
        except OSError:
            ended = True
        if ended:
            self.end(caller)

    def _part(self) -> None:
        """From those who were told a while ago, and have not gone."""
        loop = asyncio.get_running_loop()
        while self._told and loop.time() - self._told[0].since >= _LINGER_SECONDS:
            self.end(self._told.popleft())
        if self._told:
            loop.call_at(self._told[0].since + _LINGER_SECONDS, self._part)

    def _wave_in(self, caller: Caller, expected: Expected | None) -> None:
        loop = asyncio.get_running_loop()
        if self._silent.pop(caller, caller) is None:
            loop.remove_reader(caller.socket)
        caller.is_idle = False
        if not self._let_in:
            loop.call_soon(self._let_some_in)
        self._let_in.setdefault(caller.reception.port, deque()).append((caller, expected))

    def _let_some_in(self) -> None:
        """One of each port after the other, so that a flood at one delays nobody at another."""
        loop = asyncio.get_running_loop()
        for _ in range(_LET_IN_AT_ONCE):
            if not self._let_in:
                return
            port, waiting = self._let_in.popitem(last=False)
            self._open(*waiting.popleft())
            if waiting:
                self._let_in[port] = waiting
        if self._let_in:
            loop.call_soon(self._let_some_in)

    def _open(self, caller: Caller, expected: Expected | None) -> None:
        if caller.socket.fileno() < 0:  # hung up on meanwhile
            if expected is not None:
                expected.here()
            return
        self.connections.went(caller.reception.port, caller)
        loop, made = asyncio.get_running_loop(), functools.partial(caller.made, expected)
        task: asyncio.Task[object] = loop.create_task(loop.connect_accepted_socket(made, caller.socket))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _forget(self, caller: Caller) -> None:
        self._silent.pop(caller, None)
        asyncio.get_running_loop().remove_reader(caller.socket)
        self.connections.went(caller.reception.port, caller)
