"""What is said about a model on a device."""

from dataclasses import dataclass
from enum import StrEnum

from llmservice.planning.fit.remedies import Remedy
from llmservice.planning.fit.room import Room
from llmservice.planning.fit.setup import Setup


class Outcome(StrEnum):
    """Whether it fits. Only `DOES_NOT_FIT` is a reason to refuse."""

    FITS = "Fits"
    TIGHT = "Tight"
    """By the optimistic estimate alone."""
    DOES_NOT_FIT = "DoesNotFit"
    """Not even by the optimistic estimate, or the model cannot be divided by so many devices."""
    UNKNOWN = "Unknown"
    """Too little is known of the model or the device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The outcome with its arithmetic.

    `room` is None where it cannot be computed. `full_length_requests` is how many requests of `max_model_len` tokens
    have room in the KV cache at once by the careful estimate (`max_num_seqs` is another limit). `largest_context` is
    the most tokens for which the outcome is Fits, `largest_context_small_kv` the same with a KV cache of 8 bits, 0
    where that cannot be had. `remedies` come in the order of least change, and are empty unless something is wrong.
    `message` is one sentence.
    """

    outcome: Outcome
    setup: Setup
    message: str
    room: Room | None = None
    full_length_requests: float = 0.0
    largest_context: int = 0
    largest_context_small_kv: int = 0
    remedies: tuple[Remedy, ...] = ()
