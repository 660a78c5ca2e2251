"""A reverse proxy before the API server that knows calls and watches, lets them go wrong, and keeps a journal.

The operator talks plain HTTP to it on loopback; it talks to the API server with the administrator's credentials. It
runs in a thread with a loop of its own, so that tests may block.
"""

import asyncio
import contextlib
import json
import ssl
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Self

import aiohttp
from aiohttp import web
from yarl import URL

from tests.faults.calls import Call, call_of
from tests.faults.rules import ON_EVENTS, Action, Rule, status_body

_NOT_SENT_ON = {"host", "connection", "transfer-encoding", "content-length", "authorization", "accept-encoding"}
_KEPT = ("Content-Type", "Retry-After")
_LONGEST_LINE_BYTES = 2**21


@dataclass(frozen=True, slots=True)
class Entry:
    """A write, and what the API server answered (0: it never saw it)."""

    call: Call
    status: int

    @property
    def accepted(self) -> bool:
        """Whether it changed something."""
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API server said."""

    status: int
    body: bytes
    headers: dict[str, str]


@dataclass(eq=False)
class FaultProxy:
    """Between the operator and `upstream`. Use it as a context manager; `url` is where the operator is sent.

    With a `scope` only calls and events about this namespace go wrong, and calls about all namespaces. `journal` has
    every write to users' objects. `struck_at` is the monotonic time of the last fault's end.
    """

    upstream: str
    tls: ssl.SSLContext | None = None
    scope: str = ""
    rules: list[Rule] = field(default_factory=list)
    journal: list[Entry] = field(default_factory=list)
    struck_at: float = 0.0
    url: str = ""
    _streams: dict[int, web.BaseRequest] = field(default_factory=dict)
    _lists: dict[str, Answer] = field(default_factory=dict)
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _thread: threading.Thread = field(init=False)
    _stop: asyncio.Event = field(init=False)
    _session: aiohttp.ClientSession = field(init=False)
    _runner: web.ServerRunner = field(init=False)
    _site: web.TCPSite | None = None

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="fault-proxy")
        self._thread.start()
        assert ready.wait(10), "the proxy did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self.rules = []
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def add(self, rule: Rule) -> Rule:
        """From now on this goes wrong."""
        self.rules = [*self.rules, rule]
        return rule

    def heal(self) -> None:
        """Nothing goes wrong from now on; what hangs is ended, what was held back arrives."""
        self.rules = []
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(10)

    def fail(self) -> None:
        """The API server is away: what is open breaks, what comes is refused."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)

    def cut_streams(self) -> None:
        """Break every watch that is open."""
        self._loop.call_soon_threadsafe(self._break_streams)

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve(ready))
        self._loop.close()

    async def _serve(self, ready: threading.Event) -> None:
        self._stop = asyncio.Event()
        connector = aiohttp.TCPConnector(ssl=self.tls or True, limit=0)
        async with aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None),
            read_bufsize=_LONGEST_LINE_BYTES,
        ) as self._session:
            # Who went away must not use up the faults meant for who came back.
            server = web.Server(self._handle, handler_cancellation=True, access_log=None)
            self._runner = web.ServerRunner(server, shutdown_timeout=0.1)
            await self._runner.setup()
            await self._open()
            ready.set()
            await self._stop.wait()
            self._break_streams()
            await self._runner.cleanup()

    async def _open(self) -> None:
        if self._site is None:
            self._site = web.TCPSite(self._runner, "127.0.0.1", URL(self.url).port or 0, reuse_address=True)
            await self._site.start()
            self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _close(self) -> None:
        if self._site is not None:
            await self._site.stop()
            self._site = None
        self._break_streams()

    def _break_streams(self) -> None:
        for request in [*self._streams.values()]:
            _break(request)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        call = call_of(request.method, request.raw_path, body)
        if self._site is None:
            return _break(request)
        for rule in self.rules:
            if rule.action in _CALL_FAULTS and call.namespace in {"", self.scope or call.namespace}:
                instead = await self._fault(rule, request, call, body)
                if instead is not None:
                    return instead
        if call.verb == "watch":
            return await self._watch(request, call)
        answer = self._frozen_list(request, call)
        if answer is None:
            try:
                answer = await asyncio.shield(self._ask(request, call, body))
            except aiohttp.ClientConnectionError:  # the API server itself is away
                return _break(request)
        return web.Response(status=answer.status, body=answer.body, headers=answer.headers)

    async def _fault(self, rule: Rule, request: web.BaseRequest, call: Call, body: bytes) -> web.StreamResponse | None:
        """What comes instead of an answer; None when the call goes on."""
        if not rule.strikes(call):
            return None
        try:
            return await _CALL_FAULTS[rule.action](self, rule, request, call, body)
        finally:
            self.struck_at = time.monotonic()

    def _frozen_list(self, request: web.BaseRequest, call: Call) -> Answer | None:
        return self._lists.get(request.raw_path) if call.verb == "list" and self._is_frozen(call) else None

    def _is_frozen(self, call: Call) -> bool:
        return any(rule.action is Action.FREEZE and rule.fits(call) for rule in self.rules)

    async def _ask(self, request: web.BaseRequest, call: Call, body: bytes) -> Answer:
        async with self._upstream(request, body) as response:
            headers = {key: response.headers[key] for key in _KEPT if key in response.headers}
            answer = Answer(response.status, await response.read(), headers)
        if call.is_write:
            self.journal.append(Entry(call, answer.status))
        elif call.verb == "list":
            self._lists[request.raw_path] = answer
        return answer

    def _upstream(self, request: web.BaseRequest, body: bytes) -> aiohttp.client._RequestContextManager:
        headers = {key: value for key, value in request.headers.items() if key.lower() not in _NOT_SENT_ON}
        headers["Accept-Encoding"] = "identity"
        url = URL(self.upstream + request.raw_path, encoded=True)
        return self._session.request(request.method, url, data=body or None, headers=headers, allow_redirects=False)

    async def _watch(self, request: web.BaseRequest, call: Call) -> web.StreamResponse:
        async with self._upstream(request, b"") as upstream:
            headers = {key: upstream.headers[key] for key in _KEPT if key in upstream.headers}
            response = web.StreamResponse(status=upstream.status, headers=headers)
            self._streams[id(request)] = request
            try:
                # The operator may go away at any time: that is no defect of the proxy.
                with contextlib.suppress(ConnectionError, aiohttp.ClientError):
                    await response.prepare(request)
                    async for line in self._lines(call, upstream):
                        await response.write(line)
            finally:
                del self._streams[id(request)]
        return response

    async def _lines(self, call: Call, upstream: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        """The lines of a watch, with what goes wrong among them."""
        held = b""
        while line := await upstream.content.readline():
            await _until(lambda: not self._is_frozen(call))
            rule = None if held else self._striking(call, line)
            if rule is None:
                yield line + held
                held = b""
            elif rule.action is Action.REORDER:
                held = line
            else:
                if rule.action is Action.HALF_OPEN:
                    await self._until_gone(rule)
                for altered in _altered(rule, line):
                    yield altered
                if rule.action in {Action.EOF, Action.ERROR, Action.HALF_OPEN}:
                    return
        yield held

    def _striking(self, call: Call, line: bytes) -> Rule | None:
        """The rule for this event, if one strikes."""
        rules = [rule for rule in self.rules if rule.action in ON_EVENTS]
        if not rules:
            return None
        event = json.loads(line)
        if self.scope and event["object"].get("metadata", {}).get("namespace") != self.scope:
            return None
        rule = next((rule for rule in rules if rule.strikes(call, event["type"])), None)
        if rule is not None:
            self.struck_at = time.monotonic()
            rule.then()
        return rule

    async def _status(self, rule: Rule, _request: web.BaseRequest, call: Call, _body: bytes) -> web.StreamResponse:
        if call.is_write:
            self.journal.append(Entry(call, 0))
        rule.then()
        headers = {"Content-Type": "application/json"} | ({"Retry-After": "1"} if rule.code == 429 else {})
        return web.Response(status=rule.code, body=status_body(rule.code), headers=headers)

    async def _delay(self, rule: Rule, *_: object) -> None:
        await asyncio.sleep(rule.seconds)

    async def _hang(self, rule: Rule, request: web.BaseRequest, *_: object) -> web.StreamResponse:
        await self._until_gone(rule)
        return _break(request)

    async def _until_gone(self, rule: Rule) -> None:
        await _until(lambda: rule not in self.rules)

    async def _cut_before(self, rule: Rule, request: web.BaseRequest, *_: object) -> web.StreamResponse:
        rule.then()
        return _break(request)

    async def _cut_after(self, rule: Rule, request: web.BaseRequest, call: Call, body: bytes) -> web.StreamResponse:
        await self._ask(request, call, body)
        rule.then()
        return _break(request)


CallFault = Callable[[FaultProxy, Rule, web.BaseRequest, Call, bytes], Awaitable[web.StreamResponse | None]]

_CALL_FAULTS: dict[Action, CallFault] = {
    Action.STATUS: FaultProxy._status,
    Action.DELAY: FaultProxy._delay,
    Action.HANG: FaultProxy._hang,
    Action.CUT_BEFORE: FaultProxy._cut_before,
    Action.CUT_AFTER: FaultProxy._cut_after,
}


def _altered(rule: Rule, line: bytes) -> list[bytes]:
    """What comes in place of an event."""
    error = b'{"type":"ERROR","object":' + status_body(rule.code) + b"}\n" if rule.code else b""
    return {
        Action.EOF: [line],
        Action.ERROR: [error],
        Action.HALF_OPEN: [],
        Action.DROP: [],
        Action.DUPLICATE: [line, line],
        Action.GARBLE: [b'{"type": "MODIFIED", "obj\n', line],
    }[rule.action]


async def _until(over: Callable[[], bool]) -> None:
    """Poll, because tests turn faults on and off from another thread."""
    while not over():  # noqa: ASYNC110
        await asyncio.sleep(0.05)


def _break(request: web.BaseRequest) -> web.StreamResponse:
    """Break the connection without a word."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=500)
