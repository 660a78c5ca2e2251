"""What a decision is: a number, a reason from a closed list, a sentence with the numbers, and each step's vote."""

from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One step's say: its name, the replicas it asks for (a fraction before rounding) and the numbers behind it."""

    step: str
    replicas: float
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Replicas to run next, and why. `trace` lists the votes in the order in which they were cast.

    `target` is what the load of this moment asks for, without bounds and stabilization; None: `replicas`. A law gives
    both, its numbers as the message, and SignalMissing if it knows nothing; `decide` bounds it and finds the reason.
    """

    replicas: int
    reason: Reason = Reason.STEADY
    message: str
    target: int | None = None
    trace: tuple[Vote, ...] = ()
