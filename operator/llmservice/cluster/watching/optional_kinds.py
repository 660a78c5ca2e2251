"""Kinds that a cluster may lack, because they come with another project: which of them are not there now, and why."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from llmservice.cluster.watching.listing import Selection

Listener = Callable[[str, str], None]
"""Called with a kind and the namespace in which it can be used from now on (empty: all)."""


@dataclass(slots=True)
class OptionalKinds:
    """What the informers of optional kinds found. Belongs to one event loop.

    A kind is absent where the API server does not know it, and where the operator has no right to it.
    """

    _absent: dict[str, dict[str, str]] = field(default_factory=dict)
    """By namespace (empty: all), then by kind: what the API server said."""
    _listeners: list[Listener] = field(default_factory=list)

    def listen(self, listener: Listener) -> None:
        """Call this whenever a kind that was absent can be used."""
        self._listeners.append(listener)

    def lack(self, selection: Selection, why: str) -> bool:
        """The API server does not list this selection; false where that is known."""
        absent = self._absent.setdefault(selection.namespace, {})
        is_news = selection.kind not in absent
        absent[selection.kind] = why
        return is_news

    def have(self, selection: Selection) -> bool:
        """This selection was listed; false where that is no news."""
        if self._absent.get(selection.namespace, {}).pop(selection.kind, None) is None:
            return False
        for listener in self._listeners:
            listener(selection.kind, selection.namespace)
        return True

    def absent_in(self, namespace: str) -> Mapping[str, str]:
        """The kinds that cannot be used in a namespace, each with what the API server said."""
        return self._absent.get(namespace) or self._absent.get("") or {}
