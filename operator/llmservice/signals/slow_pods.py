"""Which pods were slow when they were asked last. They wait behind the others, so as not to take the first places."""

from collections import Counter
from collections.abc import Iterable

from llmservice.signals.source import Target

_MOST = 8192
"""More than one round can find: 256 connections, each held for two seconds of nine."""


class SlowPods:
    """A bounded memory; what is too much is forgotten, the one asked longest ago first."""

    def __init__(self) -> None:
        self._pods: dict[tuple[str, str], None] = {}
        self._in_namespace: Counter[str] = Counter()

    def __contains__(self, target: Target) -> bool:
        return _key(target) in self._pods

    def note(self, target: Target, *, is_slow: bool) -> None:
        """What a pod was like that has just been asked."""
        self._forget(_key(target))
        if is_slow:
            self._pods[_key(target)] = None
            self._in_namespace[target.namespace] += 1
        if len(self._pods) > _MOST:
            self._forget(next(iter(self._pods)))

    def in_namespace(self, namespace: str) -> int:
        """How many there are."""
        return self._in_namespace.get(namespace, 0)

    def behind(self, targets: Iterable[Target]) -> list[Target]:
        """Namespaces with fewer slow pods first; slow pods last, the one asked longest ago before the others."""
        asked = {key: number for number, key in enumerate(self._pods)}
        return sorted(targets, key=lambda each: (asked.get(_key(each), -1), self.in_namespace(each.namespace)))

    def _forget(self, key: tuple[str, str]) -> None:
        if key in self._pods:
            del self._pods[key]
            self._in_namespace[key[0]] -= 1
            if not self._in_namespace[key[0]]:
                del self._in_namespace[key[0]]


def _key(target: Target) -> tuple[str, str]:
    return target.namespace, target.pod
