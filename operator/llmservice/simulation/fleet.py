"""Replicas of one simulated service: starting, serving, draining; a router; what they cost; what a scrape would see."""

import random
from collections import deque
from dataclasses import dataclass, field

from llmservice.autoscaling.counters import Counters, flow_between
from llmservice.autoscaling.policy import Objective
from llmservice.autoscaling.snapshot import Flow, Phase, Replica, Snapshot
from llmservice.simulation.engine_profile import EngineProfile
from llmservice.simulation.engine_replica import EngineReplica
from llmservice.simulation.request import Request

COLD_START_SPREAD = 0.1
"""A cold start takes its nominal time, more or less by this share."""


@dataclass(slots=True, eq=False)
class Member:
    """One replica of the fleet; times in seconds, `ended_at` None while it runs."""

    name: str
    engine: EngineReplica
    created_at: float
    ready_at: float
    ended_at: float | None = None
    ready: bool = False
    draining: bool = False
    scraped: Counters | None = None

    def seconds_within(self, start: float, end: float) -> float:
        """Seconds it existed between two moments."""
        last = end if self.ended_at is None else min(self.ended_at, end)
        return max(0.0, last - max(self.created_at, start))


@dataclass(slots=True)
class Fleet:
    """All replicas of a service. Requests go to the ready replica that holds the fewest, or wait for the first one.

    `asked` replicas run or start, the first of them ready at 0 after a start of the usual length. What is too much
    leaves: starting replicas first, then the youngest, and a ready one finishes its requests before it ends.
    """

    profile: EngineProfile
    cold_start_seconds: float
    asked: int
    seed: int = 0
    scraped_at: float = 0.0
    members: list[Member] = field(default_factory=list)
    ended: list[Member] = field(default_factory=list)
    _gate: deque[Request] = field(default_factory=deque)
    _serving: list[Member] = field(default_factory=list)
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311  (a simulation repeats itself)
        for _ in range(self.asked):
            cold_start = self._cold_start()
            self._start(-cold_start, cold_start)

    def advance(self, until: float) -> None:
        """Let every replica work until this moment."""
        for member in self.members if len(self.members) != len(self._serving) else ():
            if not member.ready and member.ready_at <= until:
                self._become_ready(member)
        for member in self._serving:
            if member.engine.clock < until:
                member.engine.advance(until)
        self._end_drained(until)

    def route(self, request: Request, at: float) -> None:
        """Hand a request to the ready replica that holds the fewest."""
        best, least = None, 1 << 30
        for member in self._serving:
            held = member.engine.requests
            if held < least and not member.draining:
                best, least = member, held
        if best is None:
            self._gate.append(request)
        else:
            best.engine.add(request, at)

    def scale(self, replicas: int, at: float) -> None:
        """Ask for so many replicas from now on."""
        staying = [member for member in self.members if not member.draining]
        for _ in range(replicas - len(staying)):
            self._start(at, self._cold_start())
        leaving = sorted(staying, key=lambda member: (member.ready, -member.created_at))
        for member in leaving[: max(0, len(staying) - replicas)]:
            if member.ready:
                member.draining = True
            else:
                self._end(member, at)
        self.asked = replicas

    def snapshot(self, at: float, objective: Objective) -> Snapshot:
        """What the operator would see now: gauges, and what the counters gained since the last snapshot."""
        staying = [member for member in self.members if not member.draining]
        before, self.scraped_at = self.scraped_at, at
        started = [m.ready_at - m.created_at for m in staying if m.ready and m.scraped is None]
        return Snapshot(
            replicas=self.asked,
            members=tuple(self._reading(member, before, at, objective) for member in staying),
            cold_starts=tuple(started),
            gated=len(self._gate),
        )

    def idle(self) -> bool:
        """Whether no request is anywhere."""
        return not self._gate and all(not member.engine.requests for member in self.members)

    def _reading(self, member: Member, before: float, at: float, objective: Objective) -> Replica:
        if not member.ready:
            return Replica(name=member.name, phase=Phase.STARTING)
        engine = member.engine
        return Replica(
            name=member.name,
            running=engine.running,
            waiting=engine.waiting,
            kv_use=engine.kv_use,
            slots=self.profile.max_sequences,
            flow=_flow(member, before, at, objective),
        )

    def _start(self, at: float, cold_start: float) -> None:
        name = f"replica-{len(self.members) + len(self.ended):04d}"
        engine = EngineReplica(self.profile, clock=at + cold_start)
        self.members.append(Member(name=name, engine=engine, created_at=at, ready_at=at + cold_start))

    def _cold_start(self) -> float:
        return self.cold_start_seconds * (1 + self._random.uniform(-COLD_START_SPREAD, COLD_START_SPREAD))

    def _become_ready(self, member: Member) -> None:
        member.ready = True
        self._serving.append(member)
        while self._gate:
            member.engine.add(self._gate.popleft(), member.ready_at)

    def _end_drained(self, until: float) -> None:
        for member in [m for m in self._serving if m.draining and not m.engine.requests]:
            self._end(member, min(until, member.engine.clock))

    def _end(self, member: Member, at: float) -> None:
        member.ended_at = at
        self.members.remove(member)
        if member.ready:
            self._serving.remove(member)
        self.ended.append(member)


def _flow(member: Member, before: float, at: float, objective: Objective) -> Flow | None:
    """What a replica did since the last scrape; one that was not ready then began with nothing."""
    engine = member.engine
    now = engine.counters.reading(at, running=engine.running, waiting=engine.waiting)
    last, member.scraped = member.scraped, now
    return flow_between(last or Counters.at_start(now, before), now, objective)
