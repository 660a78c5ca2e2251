"""A load as a plan: phases one after the other, each a list of conversations and how many of them are under way."""

from dataclasses import dataclass

MOST_REQUESTS = 100_000
"""In one load: the records of these are kept in memory (about 2 kB each)."""

LONGEST_TOKENS = 131_072
"""Of one prompt or answer."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One request: tokens of its prompt (roughly: a word each) and of its answer; seconds to think before it."""

    prompt_tokens: int
    answer_tokens: int
    think_seconds: float = 0.0
    text: str = ""
    """The prompt itself; empty for one that is made up."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Requests of one user, each sent after the answer to the one before; the first at `at` seconds of the phase."""

    turns: tuple[Turn, ...]
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A part of a load that is measured by itself.

    `name` is what its row in the table is called. With `in_flight` so many conversations are under way at any moment,
    and their `at` means nothing; without, each begins at its time. `users` is where it stands in a picture.
    """

    name: str
    conversations: tuple[Conversation, ...]
    users: float
    in_flight: int | None = None

    @property
    def requests(self) -> int:
        """How many requests it sends."""
        return sum(len(conversation.turns) for conversation in self.conversations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a bench sends, phase by phase, and what a row of its table is."""

    name: str
    phases: tuple[Phase, ...]
    rows: str
    together: bool = False
    """Phases with the same number under way that go over into each other: one run of the generator for all."""

    @property
    def requests(self) -> int:
        """How many requests it sends."""
        return sum(phase.requests for phase in self.phases)

    def runs(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the phases, as the generator runs them."""
        numbers = tuple(range(len(self.phases)))
        return (numbers,) if self.together else tuple((number,) for number in numbers)
