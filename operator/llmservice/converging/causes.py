"""Why an engine exited, in the words of its log: the first of its patterns that the log has."""

from collections.abc import Sequence
from functools import lru_cache

from llmservice.converging.diagnosis import Diagnosis, sentence
from llmservice.engines.engine import LogPattern
from llmservice.untrusted.patterns import Match, Pattern, PatternSet, together

_MOST_DIGITS = 9
"""Of a number in a log: more is no number of tokens, heads or MiB."""


def cause_in(text: str, log_patterns: Sequence[LogPattern], largest_context: int = 0) -> Diagnosis | None:
    """What the log names; None when no pattern is in it.

    The text is read once for all patterns. `largest_context` is the largest number of tokens that fits by our own
    estimate, 0 where that is not known: it is said where the log has no number of the engine's.
    """
    for position in _all_of(tuple(each.pattern for each in log_patterns)).which(text):
        log_pattern = log_patterns[position]
        if match := log_pattern.pattern.first(text):
            remedy = _remedy(log_pattern, match, largest_context)
            message = f"{log_pattern.cause}: {sentence(match.line())}; {remedy}"
            return Diagnosis(
                reason=log_pattern.reason,
                message=message,
                self_healing=log_pattern.self_healing,
                uncertain=log_pattern.uncertain,
            )
    return None


def _remedy(log_pattern: LogPattern, match: Match, largest_context: int) -> str:
    """In numbers where all of them are known. Groups are foreign text: only what is a number is taken from them."""
    numbers = {"largest": str(largest_context)} if largest_context > 0 else {}
    numbers |= {name: value for name, value in match.groups().items() if _is_number(value)}
    try:
        return log_pattern.remedy_in_numbers.format(**numbers) or log_pattern.remedy
    except KeyError:
        return log_pattern.remedy


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and int(text) > 0


@lru_cache(maxsize=16)
def _all_of(patterns: tuple[Pattern, ...]) -> PatternSet:
    return together(patterns)
