"""A cache of logs with a memory budget: evicts the oldest log of the namespace that uses most."""

import sys
from collections import Counter, OrderedDict
from dataclasses import dataclass, field

_AT_MOST_BYTES = 16 * 2**20
_ENTRY_BYTES = 512
"""Memory of an entry besides its text."""

Run = tuple[str, str]
"""UID of a pod, and an id of the engine's run."""


@dataclass(slots=True)
class RememberedLogs:
    """When each log was read and its text (None: could not be read), by namespace and run."""

    at_most: int = _AT_MOST_BYTES
    _logs: dict[str, OrderedDict[Run, tuple[float, str | None]]] = field(default_factory=dict)
    _bytes: Counter[str] = field(default_factory=Counter)
    _total: int = 0

    def get(self, namespace: str, run: Run) -> tuple[float, str | None] | None:
        """When this log was read, and its text; None when it is not cached."""
        logs = self._logs.get(namespace)
        return logs.get(run) if logs else None

    def put(self, namespace: str, run: Run, read_at: float, text: str | None) -> None:
        """Cache a log; replaces the entry of this run."""
        logs = self._logs.setdefault(namespace, OrderedDict())
        if run in logs:
            self._count(namespace, -_size(logs.pop(run)[1]))
        logs[run] = (read_at, text)
        self._count(namespace, _size(text))
        while self._total > self.at_most:
            self._forget_one()

    def _forget_one(self) -> None:
        namespace = max(self._bytes, key=self._bytes.__getitem__)
        _, (_, text) = self._logs[namespace].popitem(last=False)
        self._count(namespace, -_size(text))
        if not self._logs[namespace]:
            del self._logs[namespace], self._bytes[namespace]

    def _count(self, namespace: str, size: int) -> None:
        self._bytes[namespace] += size
        self._total += size


def _size(text: str | None) -> int:
    """Bytes in memory: one character beyond Latin-1 makes the whole text two or four times as large."""
    return _ENTRY_BYTES + (sys.getsizeof(text) if text else 0)
