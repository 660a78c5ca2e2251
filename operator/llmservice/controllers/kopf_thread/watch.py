"""kopf watches LLMServices; this hands its events to the cache, and restarts kopf when it ends or goes silent.

kopf runs in a thread with an event loop of its own: when it ends it cancels every task that was created in its loop
since its start (kopf 1.45, reactor/running.py), and none of those may be ours.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import kopf

from llmservice.cluster.kinds import KINDS
from llmservice.controllers.kopf_thread.login import tell_of_lists
from llmservice.controllers.kopf_thread.settings import watching_only
from llmservice.controllers.kopf_thread.watchdog import Watchdog
from llmservice.pauses import backoff, jittered

log = logging.getLogger(__name__)

_LLM_SERVICE = KINDS["LLMService"]
_LONGEST_PAUSE_SECONDS = 6.0
"""Short enough that a resource made right after an outage is acted on within ten seconds."""

_HEALTHY_SECONDS = 30.0
_ENDING_SECONDS = 10.0

_IDENTITY: Any = "llmservice-operator"
"""For peering, which is off. kopf would ask for the user's name, and a numeric user of a container has none."""

Observe = Callable[[dict[str, Any], bool], None]
"""Takes a body and whether it was deleted; called in the loop of the application."""


def _nothing() -> None:
    """Nobody wants to know."""


@dataclass(slots=True, kw_only=True)
class KopfWatch:
    """Runs `kopf.operator()` for ever, in a thread.

    `login` makes the connection kopf uses, anew at each start; `served` tells whether the API server knows the kind
    yet (kopf would warn once and never look again). `relisted` is called, in the loop of the application, when kopf
    begins to list: it never tells what vanished since its last list. `restarts` counts the starts after the first.
    `watching` is true while all of kopf's watchers run. `begin_anew` starts kopf again, and nothing
    is heard any more of what it knew before.
    """

    observe: Observe
    login: Callable[[], Awaitable[kopf.AiohttpSession]]
    served: Callable[[], Awaitable[bool]]
    relisted: Callable[[], None] = _nothing
    namespaces: tuple[str, ...] = ()
    first_pause_seconds: float = 0.5
    discovery_pause_seconds: float = 2.0
    look_seconds: float = 5.0
    restarts: int = 0
    watching: bool = False
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _anew: asyncio.Event = field(default_factory=asyncio.Event)
    _beginning: int = 0
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread; `observe` and `relisted` are called in the loop this is called from."""
        application = asyncio.get_running_loop()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(application,), name="kopf", daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        """Stop kopf and wait for its thread, at most 15 seconds."""
        if self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            await asyncio.to_thread(self._thread.join, _ENDING_SECONDS + 5)

    def begin_anew(self) -> None:
        """Discard what kopf delivered, and let it list again; called in the application's loop."""
        self._beginning += 1
        if self.is_alive():
            self._loop.call_soon_threadsafe(self._anew.set)

    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread is not None and self._thread.is_alive()

    def _run(self, application: asyncio.AbstractEventLoop) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._supervise(application))

    async def _supervise(self, application: asyncio.AbstractEventLoop) -> None:
        failures = 0
        while not self._stop.is_set():
            started = self._loop.time()
            try:
                await self._wait_until_served()
                await self._operate(application)
            except Exception as error:  # noqa: BLE001  (kopf ends with what the API server or the network gave it)
                log.warning("kopf ended: %s: %s", type(error).__name__, error)
            if self._stop.is_set():
                return
            failures = 0 if self._loop.time() - started > _HEALTHY_SECONDS else failures + 1
            self.restarts += 1
            await self._pause(pause_after(failures, self.first_pause_seconds))

    async def _wait_until_served(self) -> None:
        told = False
        while not self._stop.is_set() and not await self.served():
            if not told:
                log.warning("the API server does not know %s yet: waiting for the CRD", _LLM_SERVICE.plural)
                told = True
            await self._pause(self.discovery_pause_seconds)

    async def _operate(self, application: asyncio.AbstractEventLoop) -> None:
        """Run kopf once: until it ends by itself, loses a watcher, or is stopped. Raises what ended it."""
        if self._stop.is_set():
            return
        end = asyncio.Event()
        # These come first: kopf cancels what was created after it.
        watchdog = asyncio.create_task(self._watchdog().until_lost())
        stopping = asyncio.create_task(self._stop.wait())
        self._anew.clear()
        beginning = asyncio.create_task(self._anew.wait())
        operating = asyncio.create_task(self._kopf(application, end))
        try:
            await asyncio.wait({watchdog, stopping, beginning, operating}, return_when=asyncio.FIRST_COMPLETED)
            if watchdog.done() and not operating.done():
                log.warning("kopf's watch ended silently: restarting kopf")
        finally:
            self.watching = False
            end.set()
            for task in (watchdog, stopping, beginning):
                task.cancel()
            await _ended(operating)
        if operating.done() and not operating.cancelled():
            operating.result()

    def _watchdog(self) -> Watchdog:
        def report(complete: bool) -> None:  # noqa: FBT001
            self.watching = complete

        return Watchdog(expected=len(self.namespaces) or 1, report=report, look_seconds=self.look_seconds)

    async def _kopf(self, application: asyncio.AbstractEventLoop, end: asyncio.Event) -> None:
        await kopf.operator(
            registry=self._registry(application),
            settings=watching_only(),
            standalone=True,
            clusterwide=not self.namespaces,
            namespaces=self.namespaces,
            stop_flag=end,
            identity=_IDENTITY,
        )

    def _registry(self, application: asyncio.AbstractEventLoop) -> kopf.OperatorRegistry:
        """Two handlers: one connects, one translates. An explicit registry has no login handlers of its own."""
        registry, begun = kopf.OperatorRegistry(), self._beginning

        def observe(body: dict[str, Any], deleted: bool) -> None:  # noqa: FBT001
            if begun == self._beginning:
                self.observe(body, deleted)

        def tell(callback: Callable[..., None], *arguments: object) -> None:
            with contextlib.suppress(RuntimeError):  # the application's loop is closed: nobody listens any more
                application.call_soon_threadsafe(callback, *arguments)

        @kopf.on.login(registry=registry)
        async def connect(**_: object) -> kopf.AiohttpSession:
            login = await self.login()
            tell_of_lists(login.aiohttp_session, lambda: tell(self.relisted))
            return login

        @kopf.on.event(*_resource(), registry=registry)
        async def translate(event: kopf.RawEvent, **_: object) -> None:
            tell(observe, dict(event["object"]), event["type"] == "DELETED")

        return registry

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)


def pause_after(failures: int, first_seconds: float) -> float:
    """Seconds until kopf is started again after so many failures in a row."""
    return jittered(backoff(failures, first_seconds, _LONGEST_PAUSE_SECONDS))


async def _ended(operating: asyncio.Task[None]) -> None:
    """Give kopf time to end, then end it."""
    await asyncio.wait({operating}, timeout=_ENDING_SECONDS)
    operating.cancel()
    await asyncio.wait({operating}, timeout=_ENDING_SECONDS / 2)


def _resource() -> tuple[str, str, str]:
    group, version = _LLM_SERVICE.api_version.split("/")
    return group, version, _LLM_SERVICE.plural
