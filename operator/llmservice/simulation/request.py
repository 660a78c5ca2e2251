"""One request, from its arrival to its last token."""

from dataclasses import dataclass
from typing import NamedTuple


class Arrival(NamedTuple):
    """A request as a trace has it: seconds since the trace began, prompt tokens, output tokens (at least 1)."""

    at: float
    prompt_tokens: int
    output_tokens: int


@dataclass(slots=True)
class Request:
    """A request inside an engine. Times in seconds of the simulation; `first_at`, `last_at` None until it happened.

    `prompt_left` tokens are still to be computed before the next token comes (after a preemption this includes what had
    been `generated`); `ends_in` is the replica's decode iteration that brings the last token.
    """

    at: float
    prompt_tokens: int
    output_tokens: int
    first_at: float | None = None
    last_at: float | None = None
    generated: int = 0
    prompt_left: int = 0
    ends_in: int = 0

    @property
    def ttft_seconds(self) -> float | None:
        """Seconds from arrival to the first token; None while there is none."""
        return None if self.first_at is None else self.first_at - self.at

    @property
    def tpot_seconds(self) -> float | None:
        """Mean seconds per token after the first; 0 for a single token, None while unfinished."""
        if self.first_at is None or self.last_at is None:
            return None
        return (self.last_at - self.first_at) / max(1, self.output_tokens - 1)
