"""Server-side apply as values: a live object and an intent in, the new object and the new owners out.

The rules are those of kubernetes.io/docs/reference/using-api/server-side-apply; the contract tests hold them against a
real API server.
"""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llmservice.objects.references import Manifest
from tests.in_memory_cluster.field_sets import Fields, Path, Step, at, elements, fields_of, is_map


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns fields: a field manager, by Apply or Update, through a subresource or none."""

    manager: str
    operation: str
    subresource: str = ""


Owners = Mapping[Owner, Fields]


def apply(live: Manifest, intent: Manifest, owners: Owners, owner: Owner) -> tuple[Manifest, Owners]:
    """Merge a forced apply.

    | field                                    | becomes                        |
    |------------------------------------------|--------------------------------|
    | in the intent, same value as live        | owned by this owner as well    |
    | in the intent, other value               | the intent's, owned by it alone |
    | dropped since the owner's last apply     | gone, unless another owns it   |
    | never stated by this owner               | untouched                      |
    """
    stated = fields_of(intent)
    others = {other: _yielded(fields, live, intent, stated) for other, fields in owners.items() if other != owner}
    kept_by_others: set[Path] = set().union(*others.values())
    dropped = owners.get(owner, frozenset()) - stated
    abandoned = {path for path in dropped if not _is_held(path, kept_by_others)}
    merged = _without(_merged(live, intent), abandoned, stated | kept_by_others)
    left = fields_of(merged)
    return merged, _present({other: fields & left for other, fields in others.items()} | {owner: stated})


def update(live: Manifest, edited: Manifest, owners: Owners, owner: Owner) -> Owners:
    """The owners after an ordinary write: who changes a field owns it alone; what is gone has no owner."""
    before, after = fields_of(live), fields_of(edited)
    changed = {path for path in after if path not in before or at(live, path) != at(edited, path)}
    changed = {path for path in changed if path not in before or isinstance(path[-1], str)}
    rest = {other: frozenset((fields & after) - changed) for other, fields in owners.items()}
    return _present({**rest, owner: rest.get(owner, frozenset()) | changed})


def _yielded(fields: Fields, live: Manifest, intent: Manifest, stated: Fields) -> Fields:
    """What another owner keeps: not the leaves to which the intent gives another value."""
    leaves = {path for path in stated & fields if isinstance(path[-1], str)}
    return fields - {path for path in leaves if at(live, path) != at(intent, path)}


def _is_held(path: Path, fields: Collection[Path]) -> bool:
    """Whether somebody owns the field or something inside it; of a list's element, the element itself.

    Who added a variable to our container loses it with the container (seen on 1.34).
    """
    if not isinstance(path[-1], str):
        return path in fields
    return any(field[: len(path)] == path for field in fields)


def _present(owners: Owners) -> Owners:
    return {owner: fields for owner, fields in owners.items() if fields}


def _merged(live: Any, intent: Any, field: str = "") -> Any:
    if is_map(live, field) and is_map(intent, field):
        return live | {name: _merged(live.get(name), value, name) for name, value in intent.items()}
    ours, theirs = elements(intent, field), elements(live, field)
    if ours is None or theirs is None:
        return intent
    merged = {**theirs, **{key: _merged(theirs.get(key), item) for key, item in ours.items()}}
    return [merged[key] for key in _order([*theirs], [*ours])]


def _order(live: Sequence[Step], ours: Sequence[Step]) -> list[Step]:
    """The intent's order; elements that it does not state stay before those that they stood before.

    (structured-merge-diff, typed/merge.go, visitListItems)
    """
    order: list[Step] = []
    left = deque(live)
    for position, key in enumerate(ours):
        following = next((other for other in ours[position:] if other in live), None)
        while left and left[0] != following:
            order += [head for head in [left.popleft()] if head not in ours]
        if left and left[0] == key:
            left.popleft()
        order.append(key)
    return [*order, *(key for key in left if key not in ours)]


def _without(value: Any, abandoned: Collection[Path], owned: Collection[Path], field: str = "") -> Any:
    """The value without the abandoned paths, and without maps that became empty by it."""
    inner = {path for path in abandoned if path}
    if not inner:
        return value
    if is_map(value, field):
        kept = {name: item for name, item in value.items() if (name,) not in inner}
        cleaned = {name: _without(item, _below(inner, name), _below(owned, name), name) for name, item in kept.items()}
        return {name: item for name, item in cleaned.items() if item or item == kept[name] or (name,) in owned}
    items = elements(value, field)
    if items is None:
        return value
    return [
        _without(item, _below(inner, key), _below(owned, key)) for key, item in items.items() if (key,) not in inner
    ]


def _below(paths: Collection[Path], step: Any) -> set[Path]:
    return {path[1:] for path in paths if path[0] == step and len(path) > 1}
