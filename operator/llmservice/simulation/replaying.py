"""A trace against a simulated service under a policy: what it attained, what it cost, what it did."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from llmservice.autoscaling.deciding import decide
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.memory import Memory
from llmservice.autoscaling.policy import Objective, ScalingPolicy
from llmservice.autoscaling.schedules import Timetable
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.errors import InvalidInput
from llmservice.simulation.fleet import Fleet
from llmservice.simulation.request import Arrival, Request

Decider = Callable[[Snapshot, float], Decision]
"""Snapshot and time (seconds) in, decision out; remembers what it must."""

_TAIL_SECONDS = 900.0
"""How long after the last arrival requests may still finish."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The service right after one decision; rates over the time since the one before."""

    at: float
    asked: int
    ready: int
    running: float
    waiting: float
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A finished replay. Requests, cost and actions count from `start` to `end` (seconds of the simulation)."""

    start: float
    end: float
    objective: Objective
    devices_per_replica: int
    replica_seconds: float
    preemptions: int
    requests: tuple[Request, ...] = field(repr=False)
    moments: tuple[Moment, ...] = field(repr=False)

    @property
    def hours(self) -> float:
        """Hours scored."""
        return (self.end - self.start) / 3600

    @property
    def average_replicas(self) -> float:
        """Replicas existing, starting ones included, on average."""
        return self.replica_seconds / (self.end - self.start)

    @property
    def device_hours(self) -> float:
        """Hours of accelerators that were paid for."""
        return self.replica_seconds * self.devices_per_replica / 3600

    @property
    def attainment(self) -> float:
        """Share of requests, 0–1, with both first token and output tokens within the objective."""
        return sum(within(request, self.objective) for request in self.requests) / max(1, len(self.requests))

    @property
    def changes(self) -> tuple[int, ...]:
        """Every change of the number asked for, in order, such as +2 or -1."""
        asked = [moment.asked for moment in self.moments]
        return tuple(after - before for before, after in pairwise(asked) if after != before)

    @property
    def reversals(self) -> int:
        """Changes in the direction opposite to the one before."""
        return sum((before > 0) != (after > 0) for before, after in pairwise(self.changes))


def within(request: Request, objective: Objective) -> bool:
    """Whether a request met both objectives; an unfinished one met none."""
    first, per_token = request.ttft_seconds, request.tpot_seconds
    if first is None or per_token is None:
        return False
    return first <= objective.ttft_seconds and per_token <= objective.tpot_seconds


def remembering(policy: ScalingPolicy, timetable: Timetable | None = None, begins: float = 0.0) -> Decider:
    """The operator's own `decide` under this policy, with the memory it needs.

    With a `timetable` the bounds are its own; `begins` is the moment 0 of the replay in seconds since 1970.
    """
    memory = Memory()

    def decided(snapshot: Snapshot, now: float) -> Decision:
        nonlocal memory
        held = policy if timetable is None else policy.within(timetable.at(begins + now))
        decision, memory = decide(held, snapshot, memory, now)
        return decision

    return decided


def replay(
    arrivals: Sequence[Arrival],
    fleet: Fleet,
    decide: Decider,
    *,
    objective: Objective,
    period_seconds: float = 10.0,
    start: float = 0.0,
) -> Replay:
    """Send all arrivals to the fleet and let `decide` scale it, every period until the last arrival.

    Raises InvalidInput when no time passes between `start` and the last arrival: nothing can be said per hour then.
    """
    end = arrivals[-1].at if arrivals else start
    if end <= start:
        raise InvalidInput(
            "LoadTakesNoTime",
            "all requests to be scored come at one moment: give a --trace with requests at different times",
        )
    requests, moments = list[Request](), list[Moment]()
    for at, arrival in _in_order(arrivals, period_seconds):
        if arrival is None and at > end and (fleet.idle() or at > end + _TAIL_SECONDS):
            break
        fleet.advance(at)
        if arrival is not None:
            requests.append(Request(*arrival))
            fleet.route(requests[-1], at)
        elif at <= end:
            moments.append(_decided(fleet, decide, at, objective))
    members = [*fleet.members, *fleet.ended]
    return Replay(
        start=start,
        end=end,
        objective=objective,
        devices_per_replica=fleet.profile.devices,
        replica_seconds=sum(member.seconds_within(start, end) for member in members),
        preemptions=sum(member.engine.counters.preemptions for member in members),
        requests=tuple(request for request in requests if request.at >= start),
        moments=tuple(moment for moment in moments if moment.at >= start),
    )


def _in_order(arrivals: Iterable[Arrival], period_seconds: float) -> Iterator[tuple[float, Arrival | None]]:
    """Arrivals and decisions (None) by their moments, an arrival first; decisions go on without end."""
    tick = period_seconds
    for arrival in arrivals:
        while tick < arrival.at:
            yield tick, None
            tick += period_seconds
        yield arrival.at, arrival
    while True:
        yield tick, None
        tick += period_seconds


def _decided(fleet: Fleet, decide: Decider, at: float, objective: Objective) -> Moment:
    snapshot = fleet.snapshot(at, objective)
    decision = decide(snapshot, at)
    fleet.scale(decision.replicas, at)
    return Moment(
        at=at,
        asked=decision.replicas,
        ready=len(snapshot.ready),
        running=snapshot.running,
        waiting=snapshot.waiting,
        decision=decision,
    )
