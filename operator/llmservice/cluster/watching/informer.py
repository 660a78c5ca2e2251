"""Keeping a cache true: list, watch, and list again whenever the watch cannot tell what happened.

A list replaces the cache, so objects that were deleted while no watch was open are noticed. A watch resumes from the
last version it received; one that is silent, breaks or sends garbage is reopened, for ever, with jittered back-off. One
that did not end by its own timeout first checks that resource versions still grow: etcd may have been restored.
"""

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from llmservice.cluster.caching.cache import ObjectCache, version_of
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.transport.failures import failure_in_stream, garbled
from llmservice.cluster.transport.json_lines import json_lines
from llmservice.cluster.watching.history import History
from llmservice.cluster.watching.listing import Listing, Selection, list_all, newest_version
from llmservice.cluster.watching.optional_kinds import OptionalKinds
from llmservice.errors import Expired, NotFound, OperatorError, Refused, Silent, Unavailable
from llmservice.objects.references import Manifest, ref_of
from llmservice.pauses import backoff, jittered

log = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 8.0
"""Short enough that a resource made right after an outage is acted on within ten seconds."""

_LONGEST_WISH_SECONDS = 30.0
_HEALTHY_SECONDS = 5.0
_WATCH_SECONDS = 300
_FAILURES_UNTIL_LIST = 3
_RARER_WITHOUT_RIGHT = 10
"""A right that an administrator has left out on purpose is asked for so much more rarely: each try is audited."""
_REFUSALS_UNTIL_ABSENT = 3
"""An API server that has just started may not serve a kind yet."""
_ANSWERED_SECONDS = 1.0
"""The least pause, before jitter, after a question in vain: somebody else may have been answered meanwhile."""


@dataclass(slots=True, kw_only=True)
class Informer:
    """Watches one selection into a cache until cancelled.

    `synced` is set after the first list; `answered` then, or when the API server refused it. `refusal` is what it said
    while it refuses, as long as it does; of an optional kind `optional` is told instead, and its objects count as
    listed: there are none, and they are asked for again every `absent_seconds`. `last_heard` is the monotonic time of
    the last sign of life: a list, an event or a bookmark, which the API server sends about every minute. `restarts`
    counts why watches ended (`closed`, `expired`, `silent`, `failed`, `absent`, `history`, `defect`). `silence_seconds`
    is the longest time without a sign of life on a watch. `history` is shared by all that watch the same API server.
    """

    connection: Connection
    cache: ObjectCache
    selection: Selection
    silence_seconds: float = 90.0
    history: History = field(default_factory=History)
    optional: OptionalKinds = field(default_factory=OptionalKinds)
    absent_seconds: float = 30.0
    pause_seconds: float = _FIRST_PAUSE_SECONDS
    chance: Callable[[], float] = random.random
    synced: asyncio.Event = field(default_factory=asyncio.Event)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    refusal: str = ""
    last_heard: float = field(default_factory=time.monotonic)
    restarts: Counter[str] = field(default_factory=Counter)
    _version: str = ""
    """The last resource version heard; empty when only a list can tell."""
    _epoch: int = 0
    """The history of the last list."""
    _refusals: int = 0
    """How often an optional kind was refused since it was listed last."""
    _broken: bool = False
    """Whether the versions may have gone back since they were last heard."""

    async def run(self) -> NoReturn:
        """List and watch. Never returns, never raises but when cancelled."""
        failures = 0
        while True:
            started, broken = time.monotonic(), self._broken
            cause, wish = await self._once()
            self.restarts[cause] += 1
            failures = 0 if self._was_healthy(started) else failures + 1
            if cause == "defect" or failures >= _FAILURES_UNTIL_LIST:
                self._version = ""
            if self._broken and not broken:
                wish = max(wish, await self._ask_at_once())
            await self._rest(max(wish, self._pause(failures)), wish)

    async def relist(self) -> None:
        """Take what the API server lists for the truth, now; a watch that is under way goes on."""
        while True:
            epoch, heard = self.history.epoch, self.cache.newest(self.selection.kind)
            listing = await list_all(self.connection, self.selection, self.cache.keep)
            if not listing.version.isdecimal():
                raise garbled("list", ValueError(f"resourceVersion {listing.version!r} is no number"))
            if self._epoch == epoch == self.history.epoch and int(listing.version) < heard:
                epoch = self.history.went_back(self.selection.name, heard, int(listing.version))
            if epoch == self.history.epoch:
                return self._take_list(listing, epoch)

    def _take_list(self, listing: Listing, epoch: int) -> None:
        kind, namespace = self.selection.kind, self.selection.namespace
        anew = epoch != self._epoch
        vanished = self.cache.replace_all(kind, listing.items, int(listing.version), namespace, anew=anew)
        if vanished:
            log.info("%s: %d objects were deleted while the watch was down", self.selection.kind, len(vanished))
        self._epoch, self._broken = epoch, False
        self._hear(listing.version)
        self._allowed()
        self.history.read(self.selection.name, epoch)
        self.synced.set()
        self.answered.set()

    async def _once(self) -> tuple[str, float]:
        """One list if needed and one watch; returns why it ended and the pause the API server asks for."""
        try:
            if self._version and self._broken:
                await self._ask()
            if not self._version or self._epoch != self.history.epoch:
                await self.relist()
            await self._watch()
        except _AnotherHistory:
            return "history", 0.0
        except Refused as error:
            return self._refused(error)
        except OperatorError as error:
            return self._ended(error)
        except Exception:
            log.exception("%s: defect while watching", self.selection.kind)
            return "defect", 0.0
        return "closed", 0.0

    async def _ask(self) -> None:
        """Whether the versions still go on from what was heard; if not, another history has begun."""
        heard = self.cache.newest(self.selection.kind)
        try:
            version = await newest_version(self.connection, self.selection)
        except Unavailable:
            self.history.in_vain()
            raise
        self._broken = False
        if self._epoch != self.history.epoch:
            return  # it is going to be listed
        if version < heard:
            self.history.went_back(self.selection.name, heard, version)
        else:
            self.history.trust(self.selection.name)

    async def _ask_at_once(self) -> float:
        """Ask, without a pause before it: nobody writes meanwhile. Returns the pause the API server wishes for."""
        try:
            await self._ask()
        except Refused as error:
            return self._refused(error)[1]
        except OperatorError as error:
            return self._ended(error)[1]
        return 0.0

    async def _rest(self, seconds: float, wish: float) -> None:
        """Whoever asked in vain goes on once somebody else was answered, so that nobody waits for it for long."""
        if self._broken:
            await self.history.pause(seconds, max(wish, jittered(_ANSWERED_SECONDS, chance=self.chance)))
        else:
            await asyncio.sleep(seconds)

    def _ended(self, error: OperatorError) -> tuple[str, float]:
        """Why a watch ended, and the pause the API server asks for."""
        if isinstance(error, Silent):
            log.info("%s: %s, reopening the watch", self.selection.kind, error)
            return "silent", 0.0
        cause = "expired" if isinstance(error, Expired) else "failed"
        if cause == "expired":
            self._version = ""
        log.warning("%s: watch %s: %s", self.selection.kind, cause, error)
        wish = error.retry_after_seconds if isinstance(error, Unavailable) else 0.0
        return cause, min(wish, _LONGEST_WISH_SECONDS)

    def _refused(self, error: Refused) -> tuple[str, float]:
        """Told once: a namespace that is gone may stay so for good."""
        if self.selection.is_optional:
            return self._absent(error)
        if not self.refusal:
            log.warning("%s: refused until further notice: %s", self.selection.name, error)
        self.refusal = str(error)
        self.answered.set()
        self.history.refused(self.selection.name)
        return "failed", 0.0

    def _absent(self, error: Refused) -> tuple[str, float]:
        """What cannot be listed is not there: all that is known of the kind is gone."""
        self._refusals += 1
        if self._refusals < _REFUSALS_UNTIL_ABSENT:
            return "absent", 0.0
        kind, namespace = self.selection.kind, self.selection.namespace
        if self.optional.lack(self.selection, str(error)):
            log.info("%s cannot be used until further notice: %s", self.selection.name, error)
        self.cache.replace_all(kind, (), self.cache.newest(kind), namespace)
        self.history.leaves(self.selection.name)
        self._version, self._broken, self.last_heard = "", False, time.monotonic()
        self.synced.set()
        self.answered.set()
        seconds = self.absent_seconds if isinstance(error, NotFound) else self.absent_seconds * _RARER_WITHOUT_RIGHT
        return "absent", jittered(seconds, 0.2, self.chance)

    def _allowed(self) -> None:
        if self.refusal:
            log.info("%s: no longer refused", self.selection.name)
        self.refusal, self._refusals = "", 0
        if self.optional.have(self.selection):
            self.history.members.add(self.selection.name)
            log.info("%s can be used from now on", self.selection.name)

    async def _watch(self) -> None:
        """Until it ends; one that ends before its own timeout broke."""
        began, seconds = time.monotonic(), int(jittered(_WATCH_SECONDS, 0.2, self.chance))
        try:
            await self._listen(seconds)
        finally:
            if time.monotonic() - began < seconds - 1:
                self._broken = True
                self.history.doubt(self.selection.name)

    async def _listen(self, seconds: int) -> None:
        target = self.selection.target(
            watch="true",
            allowWatchBookmarks="true",
            resourceVersion=self._version,
            timeoutSeconds=str(seconds),
        )
        accept = self.selection.accept(as_list=False)
        try:
            async with asyncio.timeout(None) as limit:
                with self.history.calling(lambda: limit.reschedule(0)):
                    async with self.connection.stream(
                        target, silence_seconds=self.silence_seconds, accept=accept
                    ) as reader:
                        self._allowed()
                        async for event in json_lines(reader):
                            self._take(event)
        except TimeoutError:
            raise _AnotherHistory from None

    def _take(self, event: dict[str, Any]) -> None:
        kind, body = self._read(event)
        if kind == "DELETED":
            self.cache.drop(ref_of(body), version_of(body))
        elif kind != "BOOKMARK":
            self.cache.put(body)
        self._hear(body["metadata"]["resourceVersion"])

    def _read(self, event: dict[str, Any]) -> tuple[str, Manifest]:
        """Type and object of an event, checked as far as they are used; raises for errors and nonsense."""
        try:
            kind, body = event["type"], event["object"]
            named = kind in {"ERROR", "BOOKMARK"} or bool(body["metadata"]["name"])
            sound = named and (kind == "ERROR" or version_of(body) >= 0)
        except (KeyError, TypeError, AttributeError) as error:
            raise garbled("watch", error) from error
        if not sound:
            raise garbled("watch", ValueError(f"{kind} without name or resource version"))
        if kind == "ERROR":
            raise failure_in_stream(body)
        return kind, self.selection.named(body)

    def _hear(self, version: str) -> None:
        self._version = version
        self.cache.hear(self.selection.kind, int(version))
        self.last_heard = time.monotonic()

    def _was_healthy(self, started: float) -> bool:
        """Whether this round lasted and was not mute: only then the next one may begin at once, without a list."""
        return self.last_heard > started and time.monotonic() - started >= _HEALTHY_SECONDS

    def _pause(self, failures: int) -> float:
        return jittered(backoff(failures, self.pause_seconds, _LONGEST_PAUSE_SECONDS), chance=self.chance)


class _AnotherHistory(Exception):
    """The watch goes on from a version of another history."""
