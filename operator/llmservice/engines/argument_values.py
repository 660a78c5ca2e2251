"""What arguments of a resource say, as far as planning must know it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from llmservice.engines.arguments import flag_of


def flags_in(args: Sequence[str]) -> tuple[str, ...]:
    """The flags that are set, normalised, in the order of the arguments: messages name the first."""
    return tuple(filter(None, map(flag_of, args)))


def value_of(args: Sequence[str], flag: str) -> str:
    """The value of a flag, the last one where it stands twice, as engines read it; empty without one.

    | written                        | value |
    |--------------------------------|-------|
    | `--flag=4`, `--flag 4`         | 4     |
    | `--flag`, `4`                  | 4     |
    """
    return next(iter(reversed([*_values(args, flag)])), "") if flag else ""


def _values(args: Sequence[str], flag: str) -> Iterator[str]:
    for argument, following in pairwise((*args, "")):
        if flag_of(argument) != flag:
            continue
        _, equals, behind = argument.partition("=")
        words = argument.split(maxsplit=1)
        yield (behind if equals else words[1] if len(words) > 1 else following).strip()
