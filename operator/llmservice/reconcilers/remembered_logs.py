"""A cache of logs with a memory budget, shared fairly among namespaces."""

import sys

from llmservice.fairness.fair_cache import FairCache

_AT_MOST_BYTES = 16 * 2**20
_ENTRY_BYTES = 512
"""Memory of an entry besides its text."""

Run = tuple[str, str]
"""UID of a pod, and an id of the engine's run."""

ReadLog = tuple[float, str | None]
"""When a log was read, and its text; None: it could not be read."""


class RememberedLogs(FairCache[str, Run, ReadLog]):
    """What was read of each run's log, by namespace."""

    def __init__(self, at_most: int = _AT_MOST_BYTES) -> None:
        super().__init__(at_most, _size)


def _size(read: ReadLog) -> int:
    """Bytes in memory: one character beyond Latin-1 makes the whole text two or four times as large."""
    _, text = read
    return _ENTRY_BYTES + (sys.getsizeof(text) if text else 0)
