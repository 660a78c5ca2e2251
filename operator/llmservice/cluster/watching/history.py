"""Does the cache still belong to the history of this cluster? etcd may be restored to older data.

Resource versions only grow within one history. So a list, or the response to a write, that is older than a version seen
before belongs to another one: the cache is void then, and everything is listed again before anything is written. A
restore breaks every watch; so after a watch broke, nothing is written until the API server's current version is known.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

log = logging.getLogger(__name__)

_LONGEST_DOUBT_SECONDS = 60.0
"""An API server that takes writes and answers no list for so long is no restored one."""

_OutOfDate = Callable[[], None]


def _nothing() -> None:
    """Nobody wants to know."""


@dataclass(slots=True)
class History:
    """Which selections are in doubt, and which must be listed again. Belongs to one event loop.

    `epoch` counts the histories. `members` are the names of the selections that must be listed in each. `after_outage`
    is called when the last doubt is resolved and a request had failed meanwhile: during the outage, versions of another
    history may have grown past those seen.
    """

    members: set[str] = field(default_factory=set)
    after_outage: Callable[[], None] = _nothing
    epoch: int = 0
    _doubts: dict[str, asyncio.TimerHandle | None] = field(default_factory=dict)
    _unread: set[str] = field(default_factory=set)
    _asked_in_vain: bool = False
    _listeners: list[_OutOfDate] = field(default_factory=list)
    _settled: asyncio.Event = field(default_factory=asyncio.Event)
    _answered: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._settled.set()

    @property
    def known_epoch(self) -> int:
        """The history to which everything in the cache belongs; -1 while some of it is from an earlier one."""
        return -1 if self._unread else self.epoch

    def is_settled(self) -> bool:
        """Whether what is known may be acted on."""
        return self._settled.is_set()

    async def settled(self) -> None:
        """Return once what is known may be acted on."""
        await self._settled.wait()

    def doubt(self, name: str) -> None:
        """A watch of this selection broke: changes since then are unknown."""
        if name not in self._doubts:
            loop = asyncio.get_running_loop()
            self._doubts[name] = loop.call_later(_LONGEST_DOUBT_SECONDS, self._excuse, name)
            self._settle()

    def trust(self, name: str) -> None:
        """The API server returned a version of this selection that is not older than the last one."""
        timer = self._doubts.pop(name, None)
        if timer is not None:
            timer.cancel()
        self._answered.set()
        self._answered = asyncio.Event()
        self._settle()
        if self._asked_in_vain and not self._doubts:
            self._asked_in_vain = False
            self.after_outage()

    def refused(self, name: str) -> None:
        """The API server answers, but does not allow listing this selection: nothing waits for it."""
        self._unread.discard(name)
        self.trust(name)

    def leaves(self, name: str) -> None:
        """This selection is of a kind that is not there: nothing waits until another history has listed it."""
        self.members.discard(name)
        self.refused(name)

    def in_vain(self) -> None:
        """The API server was asked for a version and did not answer."""
        self._asked_in_vain = True

    def read(self, name: str, epoch: int) -> None:
        """This selection was listed completely, starting within this epoch."""
        if epoch == self.epoch:
            self._unread.discard(name)
            self.trust(name)

    def went_back(self, what: str, heard: int, told: int) -> int:
        """A version is older than one seen before: returns the number of the new epoch."""
        log.warning(
            "%s: the API server is at version %d, and was at %d before: was etcd restored from a "
            "backup? everything is listed again before anything is written",
            what,
            told,
            heard,
        )
        self.epoch += 1
        self._unread = set(self.members)
        self._settle()
        for listener in tuple(self._listeners):
            listener()
        return self.epoch

    @contextmanager
    def calling(self, listener: _OutOfDate) -> Iterator[None]:
        """Call this when another history begins, as long as the block runs."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    async def pause(self, seconds: float, at_least: float) -> None:
        """Sleep; ends early when the API server has answered another task meanwhile."""
        await asyncio.sleep(min(at_least, seconds))
        try:
            async with asyncio.timeout(seconds - min(at_least, seconds)):
                await self._answered.wait()
        except TimeoutError:
            return

    def _excuse(self, name: str) -> None:
        """Not in doubt any more, and not again until it was answered: its key stays."""
        self._doubts[name] = None
        self._settle()

    def _settle(self) -> None:
        if self._unread or any(self._doubts.values()):
            self._settled.clear()
        else:
            self._settled.set()
