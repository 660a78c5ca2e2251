"""Checks that do not depend on each other: all of them are made, so that one edit can correct everything."""

from collections.abc import Callable

from llmservice.errors import InvalidSpec


def gather(*checks: Callable[[], object]) -> None:
    """Make every check; raises InvalidSpec with the lines of all that refuse, and the reason of the first."""
    refusals = tuple(refusal for check in checks if (refusal := _refusal(check)))
    if len(refusals) == 1:
        raise refusals[0]
    if refusals:
        lines = "\n".join(str(refusal) for refusal in refusals)
        raise InvalidSpec(refusals[0].reason, lines, parts=refusals)


def _refusal(check: Callable[[], object]) -> InvalidSpec | None:
    try:
        check()
    except InvalidSpec as refusal:
        return refusal
    return None
