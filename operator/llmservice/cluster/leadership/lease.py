"""Leader election by a Lease: one replica works, the others stand by with warm caches.

A leader measures by its own monotonic clock how long it leads, so it stops in time even when the API server hangs or
the process was frozen. Changes of the wall clock do not matter.
"""

import asyncio
import contextlib
import logging
import math
import random
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NoReturn, Protocol

from llmservice.cluster.kinds import KINDS
from llmservice.cluster.leadership.lease_record import (
    LeaseRecord,
    LeaseTiming,
    Sighting,
    came_back,
    claimed,
    manifest_of,
    may_claim,
    record_of,
    released,
    seen,
)
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.transport.failures import garbled
from llmservice.errors import Conflict, NotFound, OperatorError
from llmservice.pauses import jittered

log = logging.getLogger(__name__)


class LeaseStore(Protocol):
    """Where the Lease is kept. Every method raises what `Cluster` raises."""

    async def read(self) -> LeaseRecord | None:
        """The Lease as it is; None when there is none."""
        ...

    async def create(self, record: LeaseRecord) -> LeaseRecord:
        """Make the Lease; `Conflict` when there is one."""
        ...

    async def replace(self, record: LeaseRecord) -> LeaseRecord:
        """Replace exactly the version that was read; `Conflict` when it is another one or gone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiServerLease:
    """A Lease behind a real API server. Give it a connection of its own: a busy operator must not delay renewals."""

    connection: Connection
    namespace: str
    name: str
    timing: LeaseTiming = field(default_factory=LeaseTiming)

    async def read(self) -> LeaseRecord | None:
        """The Lease as it is; None when there is none."""
        try:
            return self._record(await self.connection.call("GET", self._item()))
        except NotFound:
            return None

    async def create(self, record: LeaseRecord) -> LeaseRecord:
        """Make the Lease; `Conflict` when there is one."""
        body = manifest_of(record, self.namespace, self.name)
        return self._record(await self.connection.call("POST", KINDS["Lease"].collection(self.namespace), body=body))

    async def replace(self, record: LeaseRecord) -> LeaseRecord:
        """Replace exactly the version that was read; `Conflict` when it is another one or gone."""
        body = manifest_of(record, self.namespace, self.name)
        try:
            return self._record(await self.connection.call("PUT", self._item(), body=body))
        except NotFound as error:
            raise Conflict("NotFound", f"the Lease is gone: {error}") from error

    def _item(self) -> str:
        return KINDS["Lease"].item(self.namespace, self.name)

    def _record(self, manifest: dict[str, Any]) -> LeaseRecord:
        try:
            return record_of(manifest, self.timing)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise garbled("Lease", error) from error


@dataclass(slots=True, kw_only=True)
class Election:
    """One candidate. `identity` must differ between processes, also between two runs of one pod.

    `clock` is monotonic, in seconds.
    """

    store: LeaseStore
    identity: str
    timing: LeaseTiming = field(default_factory=LeaseTiming)
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    chance: Callable[[], float] = random.random
    _sighting: Sighting | None = None
    _looked: bool = False
    _leads_until: float = field(default=-math.inf)
    _not_before: float = -math.inf
    """When this candidate may claim the Lease again, after etcd was restored to a time at which it was the leader."""

    def is_leader(self) -> bool:
        """Whether writing is allowed at this very moment. May be called from any thread."""
        return self.seconds_left() > 0

    def seconds_left(self) -> float:
        """Seconds until the renew deadline; negative or zero without leadership."""
        return self._leads_until - self.clock()

    async def run(self, lead: Callable[[], Coroutine[Any, Any, object]]) -> NoReturn:
        """Compete until cancelled; `lead` runs while we lead and is cancelled at the deadline.

        On cancellation `lead` is stopped first and the Lease released then, so that the next leader need not wait and
        never overlaps with us. An error of `lead` ends the candidacy and is raised.
        """
        try:
            while True:
                await self._until_leader()
                log.info("%s leads now", self.identity)
                await self._lead(lead)
                log.warning("%s leads no longer: the Lease could not be renewed in time", self.identity)
        finally:
            await self._release()

    async def _until_leader(self) -> None:
        while True:
            await self._attempt(self.timing.call_seconds)
            if self.is_leader():
                return
            # Candidates that start together would conflict again and again.
            await asyncio.sleep(jittered(self.timing.retry_seconds, 0.2, self.chance))

    async def _lead(self, lead: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Run `lead` and renew beside it, until the deadline."""
        term, renewing = asyncio.create_task(lead()), asyncio.create_task(self._renew())
        try:
            await asyncio.wait({term, renewing}, return_when=asyncio.FIRST_COMPLETED)
            if term.done():
                term.result()
                raise RuntimeError("what a leader does must not end by itself")
        finally:
            for task in (term, renewing):
                task.cancel()
            await asyncio.gather(term, renewing, return_exceptions=True)

    async def _renew(self) -> None:
        while (left := self.seconds_left()) > 0:
            await asyncio.sleep(min(self.timing.retry_seconds, left))
            if (left := self.seconds_left()) > 0:
                await self._attempt(min(self.timing.call_seconds, left))

    async def _attempt(self, call_seconds: float) -> None:
        """Look at the Lease unless we know it, and write ourselves into it if we may."""
        try:
            if not self._looked:
                async with asyncio.timeout(call_seconds):
                    record = await self.store.read()
                if came_back(self._known(), record, self.identity):
                    self._not_before = self.clock() + self.timing.duration_seconds
                self._see(record)
            if self.clock() >= self._not_before and may_claim(self._sighting, self.identity, self.clock()):
                async with asyncio.timeout(call_seconds):
                    await self._claim()
        except Conflict:
            self._looked = False  # somebody else was faster
        except (OperatorError, TimeoutError) as error:
            self._looked = False  # the write may have been applied all the same
            log.warning("Lease: %s", str(error) or f"no answer within {call_seconds:.1f} s")
        else:
            self._looked = self.is_leader()

    async def _claim(self) -> None:
        asked = self.clock()  # before the request: the API server may apply it at once and answer late
        record = claimed(self._known(), self.identity, self.timing, self.now())
        self._see(await (self.store.replace(record) if record.version else self.store.create(record)))
        self._leads_until = asked + self.timing.renew_deadline_seconds

    def _see(self, record: LeaseRecord | None) -> None:
        self._sighting = None if record is None else seen(self._sighting, record, self.clock())
        if record is not None and record.holder != self.identity:
            self._leads_until = -math.inf

    def _known(self) -> LeaseRecord | None:
        return self._sighting.record if self._sighting is not None else None

    async def _release(self) -> None:
        """Give the Lease back if it is in our name, also when we lost track of that."""
        self._leads_until = -math.inf
        with contextlib.suppress(OperatorError, TimeoutError):  # whoever comes next waits for the duration then
            async with asyncio.timeout(self.timing.call_seconds):
                record = await self.store.read()
                if record is not None and record.holder == self.identity:
                    await self.store.replace(released(record, self.now()))
                    log.info("%s released the Lease", self.identity)
