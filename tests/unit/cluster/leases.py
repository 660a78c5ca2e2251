"""A Lease in memory, candidates for it, and what they do while they lead."""

import asyncio
from dataclasses import dataclass, field, replace

from llmservice.cluster.leadership.lease import Election
from llmservice.cluster.leadership.lease_record import LeaseRecord
from llmservice.errors import Conflict, Unavailable
from tests.unit.cluster.fake_time import FakeTimeLoop


@dataclass
class LeaseInMemory:
    """One Lease for several candidates. `answer_seconds` is how long it takes to answer; `down` makes it refuse."""

    record: LeaseRecord | None = None
    answer_seconds: float = 0.01
    down: bool = False
    calls: list[str] = field(default_factory=list)

    async def read(self) -> LeaseRecord | None:
        await self._answer("read")
        return self.record

    async def create(self, record: LeaseRecord) -> LeaseRecord:
        await self._answer("create")
        if self.record is not None:
            raise Conflict("AlreadyExists", "there is one")
        return self._store(record, 1)

    async def replace(self, record: LeaseRecord) -> LeaseRecord:
        await self._answer("replace")
        if self.record is None or self.record.version != record.version:
            raise Conflict("Conflict", "changed meanwhile")
        return self._store(record, int(record.version) + 1)

    def delete(self) -> None:
        """Delete the Lease by other hands."""
        self.record = None

    def _store(self, record: LeaseRecord, version: int) -> LeaseRecord:
        self.record = replace(record, version=str(version))
        return self.record

    async def _answer(self, verb: str) -> None:
        self.calls.append(verb)
        await asyncio.sleep(self.answer_seconds)
        if self.down:
            raise Unavailable("Unreachable", "no API server")


@dataclass
class Candidate:
    """An election at work, and the times between which it led."""

    election: Election
    loop: FakeTimeLoop
    led: list[list[float]] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    def start(self) -> "Candidate":
        self.task = asyncio.create_task(self.election.run(self._lead))
        return self

    async def stop(self) -> None:
        """SIGTERM."""
        assert self.task is not None
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def _lead(self) -> None:
        self.led.append([self.loop.time()])
        try:
            await asyncio.Event().wait()
        finally:
            self.led[-1].append(self.loop.time())


def a_candidate(loop: FakeTimeLoop, store: LeaseInMemory, identity: str = "one") -> Candidate:
    election = Election(store=store, identity=identity, clock=loop.time, chance=lambda: 1.0)
    return Candidate(election, loop)
