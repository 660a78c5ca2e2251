"""Keeping a cache true: list, watch, and list again whenever the watch cannot tell what happened.

A list replaces what is known, so what vanished while nobody listened is noticed. A watch resumes from the last version
it heard; one that goes silent, breaks or babbles is opened again, for ever, with growing jittered pauses.
"""

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from llmservice.cluster.cache import ObjectCache, version_of
from llmservice.cluster.connection import Connection
from llmservice.cluster.failures import Expired, Silent, failure_in_stream, garbled
from llmservice.cluster.json_lines import json_lines
from llmservice.cluster.listing import Selection, list_all
from llmservice.converging.references import Manifest, ref_of
from llmservice.errors import OperatorError, Refused, Unavailable

log = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 8.0
"""Short enough that a resource made right after an outage is acted on within ten seconds."""

_LONGEST_WISH_SECONDS = 30.0
_HEALTHY_SECONDS = 5.0
_WATCH_SECONDS = 300
_FAILURES_UNTIL_LIST = 3


@dataclass(slots=True, kw_only=True)
class Informer:
    """Watches one selection into a cache until cancelled.

    `synced` is set after the first list; `answered` then, or when the API server refused it. `refusal` is what it said
    while it refuses, as long as it does. `last_heard` is the monotonic time of the last sign of life: a list, an event
    or a bookmark, which the API server sends about every minute. `restarts` counts why watches ended (`closed`,
    `expired`, `silent`, `failed`, `defect`). `silence_seconds` is the longest time without a sign of life on a watch.
    """

    connection: Connection
    cache: ObjectCache
    selection: Selection
    silence_seconds: float = 90.0
    pause_seconds: float = _FIRST_PAUSE_SECONDS
    jitter: Callable[[], float] = random.random
    synced: asyncio.Event = field(default_factory=asyncio.Event)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    refusal: str = ""
    last_heard: float = field(default_factory=time.monotonic)
    restarts: Counter[str] = field(default_factory=Counter)
    _version: str = ""
    """The last resource version heard; empty when only a list can tell."""

    async def run(self) -> NoReturn:
        """List and watch. Never returns, never raises but when cancelled."""
        failures = 0
        while True:
            started = time.monotonic()
            cause, wish = await self._once()
            self.restarts[cause] += 1
            failures = 0 if self._was_healthy(started) else failures + 1
            if cause == "defect" or failures >= _FAILURES_UNTIL_LIST:
                self._version = ""
            await asyncio.sleep(max(wish, self._pause(failures)))

    async def relist(self) -> None:
        """Take what the API server lists for the truth, now; a watch that is under way goes on."""
        listing = await list_all(self.connection, self.selection, self.cache.keep)
        if not listing.version.isdecimal():
            raise garbled("list", ValueError(f"resourceVersion {listing.version!r} is no number"))
        vanished = self.cache.replace_all(
            self.selection.kind, listing.items, int(listing.version), self.selection.namespace
        )
        if vanished:
            log.info("%s: %d vanished while nobody listened", self.selection.kind, len(vanished))
        self._hear(listing.version)
        self._allowed()
        self.synced.set()
        self.answered.set()

    async def _once(self) -> tuple[str, float]:
        """One list if needed and one watch; returns why it ended and the pause the API server asks for."""
        try:
            if not self._version:
                await self.relist()
            await self._watch()
        except Expired as error:
            self._version = ""
            return self._ended("expired", error)
        except Silent as error:
            log.info("%s: %s, the watch is opened again", self.selection.kind, error)
            return "silent", 0.0
        except Refused as error:
            return self._refused(error)
        except OperatorError as error:
            return self._ended("failed", error)
        except Exception:
            log.exception("%s: defect while watching", self.selection.kind)
            return "defect", 0.0
        return "closed", 0.0

    def _ended(self, cause: str, error: OperatorError) -> tuple[str, float]:
        log.warning("%s: watch %s: %s", self.selection.kind, cause, error)
        wish = error.retry_after_seconds if isinstance(error, Unavailable) else 0.0
        return cause, min(wish, _LONGEST_WISH_SECONDS)

    def _refused(self, error: Refused) -> tuple[str, float]:
        """Told once: a namespace that is gone may stay so for good."""
        if not self.refusal:
            log.warning("%s: refused until further notice: %s", self.selection.name, error)
        self.refusal = str(error)
        self.answered.set()
        return "failed", 0.0

    def _allowed(self) -> None:
        if self.refusal:
            log.info("%s: no longer refused", self.selection.name)
        self.refusal = ""

    async def _watch(self) -> None:
        target = self.selection.target(
            watch="true",
            allowWatchBookmarks="true",
            resourceVersion=self._version,
            timeoutSeconds=str(int(_WATCH_SECONDS * (0.9 + 0.2 * self.jitter()))),
        )
        accept = self.selection.accept(as_list=False)
        async with self.connection.stream(target, silence_seconds=self.silence_seconds, accept=accept) as reader:
            self._allowed()
            async for event in json_lines(reader):
                self._take(event)

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
        self.last_heard = time.monotonic()

    def _was_healthy(self, started: float) -> bool:
        """Whether this round lasted and was not mute: only then the next one may begin at once, without a list."""
        return self.last_heard > started and time.monotonic() - started >= _HEALTHY_SECONDS

    def _pause(self, failures: int) -> float:
        pause: float = min(_LONGEST_PAUSE_SECONDS, self.pause_seconds * 2 ** min(failures, 16))
        return pause * (0.5 + 0.5 * self.jitter())
