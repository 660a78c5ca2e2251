"""What is known of one service here: its line, its counts; and of each request that stays."""

import asyncio
from dataclasses import dataclass, field

from llmservice.activator.lines import Line
from llmservice.activator.slices import Replica, Served


@dataclass(slots=True, eq=False)
class Stay:
    """One request's stay. `since`: the loop's time when it came. `turn` ends with its replica, or a Refusal."""

    desk: "Desk"
    since: float
    turn: asyncio.Future[Replica]
    replica: Replica | None = None
    is_taken: bool = False


@dataclass(frozen=True, slots=True)
class Holding:
    """A time in which requests waited for a replica, from its first one on; and the counts at that moment."""

    since: float
    taken: int
    refused: int


@dataclass(slots=True, eq=False)
class Desk:
    """All that is known of one service here. It outlives changes of its slices, not the loss of its port."""

    served: Served
    line: Line[Stay] = field(default_factory=Line)
    taken: int = 0
    answered: int = 0
    refused: int = 0
    gone: bool = False
    holding: Holding | None = None

    @property
    def is_asleep(self) -> bool:
        """No replica is ready."""
        return not self.line.replicas

    @property
    def is_passed_by(self) -> bool:
        """Its Service leads to replicas alone, or to nobody: connections here should end."""
        return self.gone or not (self.served.in_path or self.is_asleep)

    def use(self, served: Served) -> None:
        """What the slices say now."""
        self.served = served
        self.line.concurrency = served.activation.concurrency
        self.line.use(served.replicas)
