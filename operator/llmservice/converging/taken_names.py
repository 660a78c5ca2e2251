"""Whose an object is that has a name we need: an orphan of ours, one that is about to go, or somebody else's."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from llmservice.api.v1alpha1.resource import GROUP, KIND
from llmservice.converging.diagnosis import sentence
from llmservice.converging.intent import digest_of
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, Ref, controller_of, is_being_deleted
from llmservice.planning.service_plan import Owner


@dataclass(frozen=True, slots=True)
class NameConflict:
    """Why a name is not ours, in a sentence. `passes` is true where Kubernetes is about to take the object away."""

    message: str
    passes: bool


class _Whose(Enum):
    LEAVING = "goes with the deleted LLMService of this name"
    ORPHAN = "was left behind without an owner by an LLMService of this name"
    FOREIGN = "exists and belongs to somebody else"


def name_conflict(owner: Owner, taken: Mapping[Ref, Manifest]) -> NameConflict:
    """What is told of the names that are not ours. Nothing is ever adopted by itself."""
    groups: dict[_Whose, dict[Ref, Manifest]] = defaultdict(dict)
    for ref, live in sorted(taken.items()):
        groups[_whose(owner, live)][ref] = live
    told = [_TOLD[whose](groups[whose]) for whose in _Whose if whose in groups]
    return NameConflict("; ".join(told), passes=set(groups) == {_Whose.LEAVING})


def _whose(owner: Owner, live: Manifest) -> _Whose:
    controller = controller_of(live)
    kind = (controller.get("apiVersion", "").partition("/")[0], controller.get("kind"), controller.get("name"))
    if is_being_deleted(live) or kind == (GROUP, KIND, owner.name):
        return _Whose.LEAVING
    is_labelled = (live["metadata"].get("labels") or {}).get(NAME_LABEL) == owner.name
    return _Whose.ORPHAN if not controller and is_labelled and digest_of(live) else _Whose.FOREIGN


def _leaving(group: Mapping[Ref, Manifest]) -> str:
    return f"{_names(group)} {_Whose.LEAVING.value} and is not gone yet: wait"


def _orphaned(group: Mapping[Ref, Manifest]) -> str:
    namespace = next(iter(group)).namespace
    objects = " ".join(f"{ref.kind.lower()}/{ref.name}" for ref in group)
    return (
        f"{_names(group)} {_Whose.ORPHAN.value}; nothing of it was touched: `kubectl -n {namespace} delete {objects}` "
        "removes it (what it serves stops); to keep it, give it this LLMService as its controller"
    )


def _foreign(group: Mapping[Ref, Manifest]) -> str:
    owners = [f"{owner['kind']} {owner['name']}" for live in group.values() if (owner := controller_of(live))]
    whose = f" ({sentence(', '.join(dict.fromkeys(owners)))})" if owners else ""
    told = f"{_names(group)} {_Whose.FOREIGN.value}{whose}"
    return f"{told}; nothing of it was touched: rename this LLMService, or remove it"


def _names(group: Mapping[Ref, Manifest]) -> str:
    return ", ".join(f"{ref.kind} {ref.name}" for ref in group)


_TOLD = {_Whose.LEAVING: _leaving, _Whose.ORPHAN: _orphaned, _Whose.FOREIGN: _foreign}
