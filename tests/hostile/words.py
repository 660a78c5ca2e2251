"""Texts that a tenant can write, made to cost their reader time or memory, or to break what repeats them."""

from random import Random

from tests.hostile.texts import PIECES

_MORE = (
    *("a", "token", "password=", "Exception: ", "content: [", "#", "=", ",", "\t", "\r", "\uffff", "😀", "é", "0", "9"),
    *("$(A)", "%s", "{{", "}}", "\x7f", "CUDA out of memory", "Traceback (most recent call last)", '{"level":"info"}'),
)
"""What needs quoting somewhere, or looks like a line of the log."""


def dashes(size: int) -> str:
    """The worst text known for patterns with a beginning that repeats, of this many letters.

    At each dash one such as `--[\\w-]*token` begins anew, and reads to the end; only with `@` the reader begins at all.
    """
    return "x" + "-" * (size - 2) + "@"


def adversarial(random: Random, size: int) -> str:
    """A text of about so many letters: a few pieces, over and over, and perhaps an end that fits nothing."""
    pieces = random.choices(PIECES + _MORE, k=random.randint(1, 3))
    unit = "".join(piece * random.choice((1, 1, 2, 64)) for piece in pieces)
    text = (random.choice(("", "x", "--", "token=")) + unit * (size // len(unit) + 1))[: max(1, size - 1)]
    return text + random.choice(("", "@", "#", "!", "token ", '"'))


def garbled(random: Random, size: int) -> bytes:
    """The same in bytes that are no UTF-8."""
    text = adversarial(random, size).encode("utf-8", "surrogatepass")
    return b"".join(bytes((byte, 0xFF)) if random.random() < 0.01 else bytes((byte,)) for byte in text[:4096]) + text


def without_nul(text: str) -> str:
    """What the API server takes: neither NUL nor halves of a letter."""
    return "".join(letter for letter in text if letter != "\x00" and not "\ud800" <= letter <= "\udfff")


def cut_to_bytes(text: str, most: int) -> str:
    """At most so many bytes of UTF-8."""
    return text.encode("utf-8", "ignore")[:most].decode("utf-8", "ignore")
