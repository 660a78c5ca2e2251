"""Clients of a service: so many long streams at any moment, and a short one several times a second.

The long ones show what is cut; the short ones knock all the time, so that no moment passes in which a new connection
would have been refused.
"""

import asyncio
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from tests.streams.stream import Ending, Stream

KNOCK_SECONDS = 0.25

_SHORT_TOKENS = 4
_LONGEST_SECONDS = 600.0
_CONNECT_SECONDS = 10.0
_SILENT_SECONDS = 90.0
"""The network of a pod may vanish before its engine has said good-bye: then nothing ends the connection."""
_PAUSE_SECONDS = 0.5
_USUAL_BYTES, _SMALL_BYTES = 2**16, 4096
_SHARES = (1.0, 0.6, 1.4, 0.8, 1.2)
"""Streams of several lengths, so that at every moment some begin and some end."""


@dataclass(kw_only=True)
class Audience:
    """Keeps `held` long streams of about `tokens` tokens under way while the `with` block runs; then waits for all.

    Each has a connection of its own, as from as many clients: kube-proxy chooses a replica for each connection. With a
    `pace`, the seconds that they take over a token of a long stream, the clients are slower than the engine: they take
    in a few kB at a time, and the rest waits in the connection and in the engine. `knock_seconds` lie between two short
    streams. All send the `key`, if there is one.
    Where the address is a gateway's, `trust` says whom TLS trusts and `host` where every name is found.
    """

    address: str
    held: int
    tokens: int
    model: str = "chat"
    pace: float = 0.0
    knock_seconds: float = KNOCK_SECONDS
    key: str = ""
    trust: ssl.SSLContext | None = None
    host: str = ""
    streams: list[Stream] = field(default_factory=list)
    long: list[Stream] = field(default_factory=list)
    _ends: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread = field(init=False)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._drive()), name="audience")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.begin_no_more()
        self._thread.join()

    def begin_no_more(self) -> None:
        """Nobody asks from now on; those who were answered are followed to the end."""
        self._ends.set()

    def in_flight(self) -> int:
        """Long streams of which tokens have come and others are still to come."""
        return sum(stream.is_streaming for stream in [*self.long])

    def ended(self, ending: Ending) -> list[Stream]:
        """The streams that ended so."""
        return [stream for stream in [*self.streams] if stream.ending is ending]

    def told(self) -> dict[str, Any]:
        """What became of all streams so far: for the message of a test that fails."""
        problems = Counter(stream.problem for stream in [*self.streams] if stream.problem)
        return {
            "begun": len(self.streams),
            "inFlight": self.in_flight(),
            "endings": Counter(stream.ending.value for stream in [*self.streams] if stream.ending),
            "problems": dict(problems.most_common(8)),
            "secondsOfLongOnes": _quartiles(self.long),
        }

    async def _drive(self) -> None:
        timeout = aiohttp.ClientTimeout(
            total=_LONGEST_SECONDS, sock_connect=_CONNECT_SECONDS, sock_read=_SILENT_SECONDS
        )
        connector = aiohttp.TCPConnector(
            force_close=True,
            limit=0,
            socket_factory=_small if self.pace else None,
            ssl=self.trust or True,
            resolver=_Found(self.host) if self.host else None,
        )
        buffer = _SMALL_BYTES if self.pace else _USUAL_BYTES
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        async with (
            aiohttp.ClientSession(
                connector=connector, timeout=timeout, read_bufsize=buffer, headers=headers
            ) as session,
            asyncio.TaskGroup() as all_,
        ):
            for number in range(self.held):
                all_.create_task(self._stream_on(session, number))
            while not self._ends.is_set():
                all_.create_task(self._one(session, _SHORT_TOKENS))
                await asyncio.sleep(self.knock_seconds)

    async def _stream_on(self, session: aiohttp.ClientSession, number: int) -> None:
        """One client: a long stream after the other. Who is refused or cut pauses, not to flood what refuses."""
        while not self._ends.is_set():
            share = _SHARES[(number + len(self.long)) % len(_SHARES)]
            stream = await self._one(session, round(self.tokens * share), self.long)
            await asyncio.sleep(0 if stream.ending is Ending.COMPLETE else _PAUSE_SECONDS)

    async def _one(self, session: aiohttp.ClientSession, tokens: int, also: list[Stream] | None = None) -> Stream:
        stream = Stream(tokens=tokens, pace=self.pace if also is not None else 0.0)
        for kept in (self.streams, also if also is not None else []):
            kept.append(stream)
        await stream.follow(session, f"{self.address}/v1/chat/completions", self._body(tokens))
        return stream

    def _body(self, tokens: int) -> dict[str, Any]:
        return {
            "model": self.model,
            "max_tokens": tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            "ignore_eos": True,  # a random model would end wherever it likes
            # The number comes first: engines share the cache of prompts that begin alike.
            "messages": [{"role": "user", "content": f"{len(self.streams)} go on"}],
        }


class _Found(AbstractResolver):
    """Finds every name at one address."""

    def __init__(self, host: str) -> None:
        self._host = host

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The one address."""
        return [ResolveResult(hostname=host, host=self._host, port=port, family=family, proto=0, flags=0)]

    async def close(self) -> None:
        """Nothing is open."""


def _small(address: aiohttp.AddrInfoType) -> socket.socket:
    """A socket that takes in little: before it is connected, for the size is agreed on then."""
    family, kind, protocol, *_ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BYTES)
    return made


def _quartiles(streams: Sequence[Stream]) -> list[float]:
    """Seconds from the request to the end: the shortest, the median and the longest."""
    now = time.monotonic()
    took = sorted((stream.ended or now) - stream.sent for stream in [*streams])
    return [round(took[at], 1) for at in (0, len(took) // 2, -1)] if took else []
