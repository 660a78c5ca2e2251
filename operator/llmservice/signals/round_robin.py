"""In what order pods are asked: round-robin over namespaces, and within a namespace over services."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from llmservice.signals.source import Target


def round_robin(targets: Iterable[Target]) -> list[Target]:
    """One pod of each namespace, then the next of each; within a namespace the same over its services."""
    namespaces: dict[str, dict[str, list[Target]]] = {}
    for target in targets:
        namespaces.setdefault(target.namespace, {}).setdefault(target.service, []).append(target)
    return [*_alternating([[*_alternating([*services.values()])] for services in namespaces.values()])]


def _alternating(groups: Sequence[Sequence[Target]]) -> Iterator[Target]:
    return (target for target in chain.from_iterable(zip_longest(*groups)) if target is not None)
