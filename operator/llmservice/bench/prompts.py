"""Prompts of a wanted length in the server's own tokens, no two alike: a cache of common beginnings would help them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice

_NOUNS = (
    "time year people way day man thing woman life child world school state family student group "
    "country problem hand part place case week company system program question work number night point home "
    "water room mother area money story fact month lot right study book eye job word business "
    "issue side kind head house service friend father power "
)
"""Common ones, a token each in the usual vocabularies."""

_WORDS = _NOUNS.split()

_LEAST_PER_WORD = 0.2

_LEAST_WORDS = 6
"""As many as make 32 bits different texts; what is shorter would be sent twice, and read from a cache."""

_ODD = 2_654_435_761
"""Scatters consecutive numbers over 32 bits, no two to the same (Knuth, The Art of Computer Programming, 6.4)."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Tokens of a prompt of w words: `fixed` (the chat template) + `per_word` x w, by the server's own count."""

    fixed: float = 0.0
    per_word: float = 1.0

    def words(self, tokens: int) -> int:
        """Words of a prompt of so many tokens, or of the shortest prompt that is not sent twice."""
        return max(_LEAST_WORDS, round((tokens - self.fixed) / self.per_word))


def calibrated(short: tuple[int, int], long: tuple[int, int]) -> Calibration:
    """From two prompts, as (words, tokens) that the server counted."""
    per_word = max(_LEAST_PER_WORD, (long[1] - short[1]) / (long[0] - short[0]))
    return Calibration(fixed=max(0.0, short[1] - per_word * short[0]), per_word=per_word)


def prompt(number: int, words: int, *, salt: int = 0) -> str:
    """So many words; another number below 2^32, or another salt, is another text within its first words."""
    return " ".join(islice(_words((number * _ODD + salt) % 2**32), words))


def _words(number: int) -> Iterator[str]:
    """The number in words, digit by digit in the base of the list, then the list from there on."""
    rest = number
    while True:
        rest, digit = divmod(rest, len(_WORDS))
        yield _WORDS[digit]
        if not rest:
            break
    start = number % len(_WORDS)
    yield from cycle((*_WORDS[start:], *_WORDS[:start]))
