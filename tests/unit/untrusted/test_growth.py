"""No pattern and no reader takes more than linear time or memory, whatever a stranger writes."""

import importlib
import pkgutil
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import pytest

import llmservice
from llmservice.converging.redaction import LONGEST_TEXT
from llmservice.untrusted.patterns import Finder, Pattern, every_pattern
from tests.hostile.readers import READERS, Reader
from tests.hostile.texts import PIECES, pieces_of, repeated

SIZES = (LONGEST_TEXT // 4, LONGEST_TEXT, 4 * LONGEST_TEXT)
"""Below the size limit, at it and above: a reader that cuts first costs the same from there on."""
WHOLE = SIZES[1:]
"""For a pattern, which cuts nothing. For short texts RE2 has quicker ways than its linear one."""
MOST_GROWTH = 10
"""Of the time, for four times the text: linear is 4, quadratic 16."""
TOO_SHORT_TO_TELL = 0.01
"""Seconds of CPU: what takes less at the largest size is no danger, and its ratio is noise."""
MOST_MEMORY = 64
"""Bytes for each character, at the peak; a list of its letters would take so many."""

for module in pkgutil.walk_packages(llmservice.__path__, "llmservice."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
PATTERNS = sorted(set(every_pattern()), key=lambda pattern: pattern.written)


def cpu_seconds(read: Reader, text: str) -> float:
    """Of this thread, so that a busy machine does not count."""
    began = time.thread_time()
    read(text)
    return time.thread_time() - began


def grows_too_much(read: Reader, piece: str, sizes: Sequence[int] = SIZES) -> bool:
    """Whether it costs more than linearly, seen twelve times: a quadratic one is seen each time.

    A busy machine takes the processor's caches away for a while, which looks the same a few times in a row.
    """
    texts = [repeated(piece, size) for size in sizes]
    if cpu_seconds(read, texts[-1]) < TOO_SHORT_TO_TELL:
        return False
    return all(_one_look(read, texts) for _ in range(12))


def _one_look(read: Reader, texts: Iterable[str]) -> bool:
    costs = [cpu_seconds(read, text) for text in texts]
    return any(more > max(MOST_GROWTH * less, TOO_SHORT_TO_TELL) for less, more in pairwise(costs))


def uses_of(pattern: Pattern) -> list[Callable[[str], object]]:
    """What may be done with it; a finder is used to find all, which costs at least as much as to find one."""
    return [lambda text: pattern.replace(text, "")] if isinstance(pattern, Finder) else [pattern.matches, pattern.first]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.written[:40])
def test_a_pattern_takes_linear_time(pattern: Pattern) -> None:
    pieces = pieces_of(pattern.written) + (list(PIECES) if isinstance(pattern, Finder) else [])
    assert [piece for piece in pieces for use in uses_of(pattern) if grows_too_much(use, piece, WHOLE)] == []


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_linear_time(name: str) -> None:
    assert [piece for piece in PIECES if grows_too_much(READERS[name], piece)] == []


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_linear_memory(name: str) -> None:
    peaks = {piece: _peak(READERS[name], repeated(piece, SIZES[-1])) for piece in PIECES[::6]}
    assert {piece: peak for piece, peak in peaks.items() if peak > MOST_MEMORY * SIZES[-1]} == {}


def _peak(read: Reader, text: str) -> int:
    tracemalloc.start()
    try:
        read(text)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_measure_tells_a_quadratic_reader() -> None:
    def quadratic(text: str) -> None:
        for start in range(0, len(text), 256):
            text.count("#", start)

    assert grows_too_much(quadratic, "-")
    assert not grows_too_much(lambda text: [text.count("#") for _ in range(200)], "-")
