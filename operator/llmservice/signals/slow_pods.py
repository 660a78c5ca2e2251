"""Which pods answered slowly the last time, and which namespaces have pods that answered in time.

Slow pods are scraped after the others. A namespace that has never answered in time waits behind those that have, so
that nobody gains a place by making new namespaces.
"""

from collections import Counter
from collections.abc import Iterable

from llmservice.signals.source import Target

_MOST = 8192
"""Pods, and namespaces: more slow ones than a round can find with 192 connections, each held for 2 s of 9."""


class SlowPods:
    """A bounded memory: the entries that were noted least recently are forgotten first."""

    def __init__(self) -> None:
        self._pods: dict[tuple[str, str], None] = {}
        self._in_namespace: Counter[str] = Counter()
        self._prompt: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def __contains__(self, target: Target) -> bool:
        return _key(target) in self._pods

    def note(self, target: Target, *, is_slow: bool) -> None:
        """Remember how a pod that was just scraped has answered."""
        self._forget(_key(target))
        if is_slow:
            self._pods[_key(target)] = None
            self._in_namespace[target.namespace] += 1
        else:
            self._note_prompt(target.namespace)
        if len(self._pods) > _MOST:
            self._forget(next(iter(self._pods)))

    def in_namespace(self, namespace: str) -> int:
        """How many slow pods a namespace has."""
        return self._in_namespace.get(namespace, 0)

    def behind(self, targets: Iterable[Target]) -> list[Target]:
        """Namespaces with fewer slow pods first; slow pods last, the least recently scraped of them first."""
        asked = {key: number for number, key in enumerate(self._pods)}
        return sorted(targets, key=lambda each: (asked.get(_key(each), -1), self.in_namespace(each.namespace)))

    def is_new(self, namespace: str) -> bool:
        """Whether none of its pods has answered in time, as far as is remembered."""
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
