"""A cluster at a distance: answers and watches come late, garbage is collected later, and calls may fail."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.guarded import Guarded, Live
from llmservice.errors import Unavailable
from llmservice.objects.references import Manifest, Ref, ref_of, uid_of
from tests.in_memory_cluster.cluster import InMemoryCluster

FAILS = -1.0
"""In the place of a pause: the call fails."""


@dataclass(slots=True)
class Delays:
    """Pauses in seconds, one after the other and again from the first; `calm` from some moment on."""

    pauses: Sequence[float]
    calm: bool = False
    _next: int = 0

    def take(self) -> float:
        """The next one."""
        self._next += 1
        return 0.01 if self.calm else self.pauses[self._next % len(self.pauses)]

    async def pass_by(self) -> None:
        """Wait for so long; or raise what an API server that is away comes to."""
        seconds = self.take()
        if seconds == FAILS:
            raise Unavailable("Unreachable", "connection reset")
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class LateAnswers(Guarded):
    """`Cluster` whose requests and answers take their time: what is done may be known late, or never."""

    delays: Delays

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """On the way there, and on the way back."""
        await self.delays.pass_by()
        yield
        await self.delays.pass_by()

    async def answer(self, ref: Ref, asked: Awaitable[Live]) -> Live:  # noqa: ARG002  (of `Guarded`)
        """What is read is known later than it was true."""
        live = await asked
        await asyncio.sleep(max(0.0, self.delays.take()))
        return live


class Streams(ObjectCache):
    """In the place of a cache: what is told reaches `cache` late. In order within a kind; of resources within one."""

    def __init__(self, cache: ObjectCache, delays: Delays) -> None:
        super().__init__()
        self.cache, self.delays = cache, delays
        self.lines: dict[str, deque[Callable[[], object]]] = {}
        self.due: dict[str, float] = {}
        self.uids: dict[Ref, str] = {}

    def put(self, manifest: Manifest, *, quietly: bool = False, true_at: float = -1) -> bool:  # noqa: ARG002
        """A watch tells of an object."""
        self.uids[ref_of(manifest)] = uid_of(manifest)
        self.tell(ref_of(manifest), lambda: self.cache.put(manifest))
        return True

    def drop(self, ref: Ref, version: int) -> bool:
        """A watch tells that it is gone."""
        self.tell(ref, lambda: self.cache.drop(ref, version))
        return True

    def tell(self, ref: Ref, news: Callable[[], object]) -> None:
        """Each kind has its watch; kopf hands the events of each resource on by themselves."""
        of = f"{ref.kind} {self.uids.get(ref, '')}" if ref.kind == "LLMService" else ref.kind
        line, loop = self.lines.setdefault(of, deque()), asyncio.get_running_loop()
        line.append(news)
        self.due[of] = max(self.due.get(of, 0.0), loop.time() + max(0.0, self.delays.take()))
        loop.call_at(self.due[of], _deliver, line)


def _deliver(line: deque[Callable[[], object]]) -> None:
    line.popleft()()


@dataclass(slots=True, kw_only=True)
class LateGarbage(InMemoryCluster):
    """Dependents of what is gone stay until `sweep`."""

    is_sweeping: bool = field(default=False)

    def collect_garbage(self) -> None:
        """Not now."""
        if self.is_sweeping:
            InMemoryCluster.collect_garbage(self)

    def sweep(self) -> None:
        """The garbage collector comes by."""
        self.is_sweeping = True
        self.collect_garbage()
        self.is_sweeping = False

    def all(self, kind: str = "") -> list[Manifest]:
        """Every object, or those of a kind, without a request."""
        return [live for ref, live in self._objects.items() if kind in {"", ref.kind}]

    def relist(self, kind: str, cache: ObjectCache) -> None:
        """A list of this moment that reaches the cache when it does."""
        listed, version = [live for live in self.all(kind) if has_label(live)], self._version
        if isinstance(self.cache, Streams):
            self.cache.tell(Ref(kind, "", ""), lambda: cache.replace_all(kind, listed, version))


def has_label(live: Manifest) -> bool:
    """Whether watches tell of it."""
    return live["kind"] == "LLMService" or "llmservice.dev/name" in (live["metadata"].get("labels") or {})
