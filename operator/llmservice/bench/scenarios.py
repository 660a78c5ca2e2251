"""The loads that people test engines with, by name, and those that options describe.

The named ones are those of published comparisons of engines: a sweep over few users, users who arrive within seconds
and pause between rounds, prompts at fixed intervals, single requests, bursts.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from llmservice.bench.load import Conversation, Load, Phase, Turn
from llmservice.simulation.request import Arrival

_PROMPT, _ANSWER = 128, 200
"""Tokens of a prompt and an answer where nobody says otherwise."""

_SHARES = (0.3, 0.6, 0.9, 1.2, 2.0)
"""Of the usual length, in a mixed load; their mean is 1."""


def sweep(levels: Sequence[int], *, requests: int, turn: Turn, mixed: bool = False) -> Load:
    """So many requests at each of the levels, which are requests under way at once.

    Requests of one length begin and end together, batch by batch. `mixed` ones do not, as among users.
    """
    turns = _mixed(turn) if mixed else (turn,)
    phases = tuple(
        Phase(
            name=str(level),
            users=level,
            in_flight=level,
            conversations=tuple(Conversation((turns[number % len(turns)],)) for number in range(max(requests, level))),
        )
        for level in levels
    )
    return Load(name="mixed sweep" if mixed else "sweep", phases=phases, rows="at once")


def _mixed(turn: Turn) -> tuple[Turn, ...]:
    """Prompts and answers from about a third to twice these lengths, independently, each pair once; means stay."""
    pairs = [(prompt, answer) for prompt in _SHARES for answer in _SHARES]
    random.Random(0).shuffle(pairs)  # noqa: S311  (the same load each time)
    return tuple(
        Turn(max(1, round(turn.prompt_tokens * prompt)), max(1, round(turn.answer_tokens * answer)))
        for prompt, answer in pairs
    )


def users(number: int, *, ramp_seconds: float, rounds: int, think_seconds: float, turn: Turn) -> Load:
    """Users who begin evenly within the ramp; each asks so many times and thinks between an answer and a question."""
    later = Turn(turn.prompt_tokens, turn.answer_tokens, think_seconds, turn.text)
    conversations = tuple(
        Conversation((turn, *(later,) * (rounds - 1)), at=ramp_seconds * user / number) for user in range(number)
    )
    return Load(
        name="users", rows="users", phases=(Phase(name=str(number), users=number, conversations=conversations),)
    )


def rate(per_second: float, *, seconds: float, poisson: bool, seed: int, turn: Turn) -> Load:
    """Requests at a rate, whether or not earlier ones were answered: evenly, or by a Poisson process."""
    chance = random.Random(seed)  # noqa: S311  (the same load again with the same seed)
    at, conversations = 0.0, list[Conversation]()
    while at < seconds:
        conversations.append(Conversation((turn,), at=at))
        at = at + chance.expovariate(per_second) if poisson else len(conversations) / per_second
    phase = Phase(name=f"{per_second:g}/s", users=per_second, conversations=tuple(conversations))
    return Load(name="rate", phases=(phase,), rows="rate")


def recorded(name: str, arrivals: Sequence[Arrival]) -> Load:
    """Requests as a trace has them: when, and how long prompts and answers are."""
    conversations = tuple(
        Conversation((Turn(arrival.prompt_tokens, arrival.output_tokens),), at=arrival.at) for arrival in arrivals
    )
    seconds = max(1.0, arrivals[-1].at)
    phase = Phase(name=name, users=len(arrivals) / seconds, conversations=conversations)
    return Load(name=name, phases=(phase,), rows="trace")


def _ramp() -> Load:
    turn = Turn(_PROMPT, _ANSWER)
    return replace(users(100, ramp_seconds=10, rounds=10, think_seconds=2, turn=turn), name="ramp-100")


def _intervals() -> Load:
    turn = Turn(_PROMPT, _ANSWER)
    phases = tuple(
        Phase(
            name=f"{interval:g} s",
            users=1 / interval,
            conversations=tuple(Conversation((turn,), at=number * interval) for number in range(100)),
        )
        for interval in (1.0, 0.5, 0.25, 0.05)
    )
    return Load(name="intervals", phases=phases, rows="interval")


def _singles() -> Load:
    phases = tuple(
        Phase(
            name=prompt[:34],
            users=1,
            in_flight=1,
            conversations=(Conversation((Turn(len(prompt.split()), 200, text=prompt),)),),
        )
        for prompt in _PROMPTS
    )
    return Load(name="single-200", phases=phases, rows="prompt", together=True)


def _at_once() -> Load:
    phases = tuple(
        Phase(
            name=str(number),
            users=number,
            in_flight=number,
            conversations=(Conversation((Turn(_PROMPT, _ANSWER),)),) * number,
        )
        for number in (16, 32)
    )
    return Load(name="at-once", phases=phases, rows="at once")


_PROMPTS = (
    "Explain in simple words why the sky is blue.",
    "Write a short story about a lighthouse keeper who finds a message in a bottle.",
    "Write a Python function that merges two sorted lists, and explain its running time.",
    "Summarize the causes of the First World War in five points.",
    "Translate into French: the train to the coast leaves at nine from the second platform.",
    "A tank fills in six hours and drains in nine. How long does it take to fill with the drain open?",
    "List the advantages and disadvantages of electric cars for a family in a small town.",
    "Write a polite letter to a landlord about a heating that has not worked for three days.",
    "Compare a relational database with a document store for an online shop.",
)
"""Of the kinds that people ask: science, fiction, code, history, translation, arithmetic, advice, a letter, design."""

SCENARIOS: dict[str, Callable[[], Load]] = {
    "sweep-1-9": lambda: replace(sweep(range(1, 10), requests=64, turn=Turn(_PROMPT, _ANSWER)), name="sweep-1-9"),
    "ramp-100": _ramp,
    "intervals": _intervals,
    "single-200": _singles,
    "at-once": _at_once,
}
"""What each is called, and how it is made."""


def usual_turn(prompt: int | None, answer: int | None) -> Turn:
    """A request of so many tokens; None for the usual number."""
    return Turn(prompt or _PROMPT, answer or _ANSWER)
