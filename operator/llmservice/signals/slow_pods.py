"""Which pods were slow when they were asked last, and whose pods were not: who comes first in a round.

Slow pods wait behind the others. A namespace of which nothing is known waits behind those that have answered in time,
so that nobody gains a place by making new ones.
"""

from collections import Counter
from collections.abc import Iterable

from llmservice.signals.source import Target

_MOST = 8192
"""Pods, and namespaces. More slow ones than a round can find: 192 connections, each held for two seconds of nine."""


class SlowPods:
    """A bounded memory; what is too much is forgotten, what was noted longest ago first."""

    def __init__(self) -> None:
        self._pods: dict[tuple[str, str], None] = {}
        self._in_namespace: Counter[str] = Counter()
        self._prompt: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def __contains__(self, target: Target) -> bool:
        return _key(target) in self._pods

    def note(self, target: Target, *, is_slow: bool) -> None:
        """What a pod was like that has just been asked."""
        self._forget(_key(target))
        if is_slow:
            self._pods[_key(target)] = None
            self._in_namespace[target.namespace] += 1
        else:
            self._note_prompt(target.namespace)
        if len(self._pods) > _MOST:
            self._forget(next(iter(self._pods)))

    def in_namespace(self, namespace: str) -> int:
        """How many there are."""
        return self._in_namespace.get(namespace, 0)

    def behind(self, targets: Iterable[Target]) -> list[Target]:
        """Namespaces with fewer slow pods first; slow pods last, the one asked longest ago before the others."""
        asked = {key: number for number, key in enumerate(self._pods)}
        return sorted(targets, key=lambda each: (asked.get(_key(each), -1), self.in_namespace(each.namespace)))

    def is_new(self, namespace: str) -> bool:
        """Whether none of its pods has been asked and answered in time; after thousands of others it is new again."""
        return namespace not in self._prompt

    def _note_prompt(self, namespace: str) -> None:
        self._prompt.pop(namespace, None)
        self._prompt[namespace] = None
        if len(self._prompt) > _MOST:
            del self._prompt[next(iter(self._prompt))]

    def _forget(self, key: tuple[str, str]) -> None:
        if key in self._pods:
            del self._pods[key]
            self._in_namespace[key[0]] -= 1
            if not self._in_namespace[key[0]]:
                del self._in_namespace[key[0]]


def _key(target: Target) -> tuple[str, str]:
    return target.namespace, target.pod
