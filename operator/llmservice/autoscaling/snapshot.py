"""What a decision is made from: every replica of one service at one moment, in terms no engine owns."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

LARGEST_READING = 1e15
"""No engine counts further: a thousand tokens per microsecond for ten days."""


class Phase(StrEnum):
    """What is known of a replica."""

    READY = "Ready"
    """Takes requests, and its metrics were read for this snapshot."""
    STARTING = "Starting"
    """Asked for, but not ready yet."""
    UNREADABLE = "Unreadable"
    """Takes requests, but its metrics could not be read: nothing is known of its load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """What one replica did between two readings of its counters.

    `arrived` = finished + rejected + growth of what it holds; None where the engine does not count what finished, which
    is 0 then. `ttft_violations` counts first tokens over the
    objective, `tpot_violations` finished requests over it. `inter_token_count` intervals between tokens of running
    requests add up to `inter_token_seconds`; `finished_prompt_tokens` and `finished_generated_tokens` are the sizes of
    the requests that finished. None where the engine does not report them.
    """

    seconds: float
    prompt_tokens: float
    generated_tokens: float
    finished: float
    arrived: float | None
    first_tokens: float | None = None
    ttft_violations: float | None = None
    tpot_violations: float | None = None
    inter_token_count: float | None = None
    inter_token_seconds: float | None = None
    finished_prompt_tokens: float | None = None
    finished_generated_tokens: float | None = None

    @property
    def tokens_per_second(self) -> float:
        """Prompt and generated tokens processed per second."""
        return (self.prompt_tokens + self.generated_tokens) / self.seconds

    @property
    def slo_violations(self) -> float:
        """Requests over an objective: late ones plus slow ones, a request that is both counted twice (the safe side).

        Two histograms only bound the union; where neither exists, none is known to be over.
        """
        return (self.ttft_violations or 0.0) + (self.tpot_violations or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """One replica: requests running and waiting, KV-cache use 0–1, slots (requests worked on at once).

    None where the engine does not report it. `flow` is None until its counters were read twice without a reset.
    `counted` is the sum of its counters, which moves with every request; None of one that was not read.
    Raises ValueError for a number that no engine can mean, so that a bad reading never reaches a decision.
    """

    name: str
    phase: Phase = Phase.READY
    running: float = 0.0
    waiting: float = 0.0
    kv_use: float | None = None
    slots: int | None = None
    flow: Flow | None = None
    counted: float | None = None

    def __post_init__(self) -> None:
        for value in (self.running, self.waiting, self.kv_use or 0.0):
            if not 0.0 <= value <= LARGEST_READING:
                msg = f"replica {self.name}: {value} is no number of requests and no ratio: report it as Unreadable"
                raise ValueError(msg)

    @property
    def requests(self) -> float:
        """Requests it holds, running or waiting."""
        return self.running + self.waiting


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """All replicas of one service that may still take requests (none that is being stopped).

    `replicas` is what is asked for now, `unschedulable` how many of those starting the scheduler finds no node for, nor
    one that is about to have room. `cold_starts` are the seconds from created to ready of the replicas that became
    ready since the last snapshot. `gated` counts requests held in front of the service.
    """

    replicas: int
    members: tuple[Replica, ...]
    unschedulable: int = 0
    cold_starts: tuple[float, ...] = ()
    gated: float = 0.0

    @cached_property
    def ready(self) -> tuple[Replica, ...]:
        """Replicas whose metrics were read, by name: the order of pods never matters."""
        return tuple(sorted((m for m in self.members if m.phase is Phase.READY), key=lambda replica: replica.name))

    @cached_property
    def unreadable(self) -> int:
        """Replicas that take requests, and whose metrics could not be read."""
        return sum(m.phase is Phase.UNREADABLE for m in self.members)

    @cached_property
    def starting(self) -> int:
        """Replicas asked for that are not ready yet."""
        return sum(m.phase is Phase.STARTING for m in self.members)

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The flows that are known, in the order of names."""
        return tuple(m.flow for m in self.ready if m.flow is not None)

    @cached_property
    def waiting(self) -> float:
        """Requests waiting on the replicas that were read."""
        return sum(m.waiting for m in self.ready)

    @cached_property
    def running(self) -> float:
        """Requests running on the replicas that were read."""
        return sum(m.running for m in self.ready)

    @cached_property
    def kv_uses(self) -> tuple[float, ...]:
        """KV-cache use 0–1 of each replica that reports one: in a rollout to another engine not all may."""
        return tuple(m.kv_use for m in self.ready if m.kv_use is not None)

    @property
    def serving(self) -> int:
        """Replicas that take requests, whether or not they were read."""
        return len(self.ready) + self.unreadable
