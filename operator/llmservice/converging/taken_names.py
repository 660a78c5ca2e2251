"""Name conflicts: an object with a name we need is an orphan of ours, about to be deleted, or somebody else's."""

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
    """Who has the name, in a sentence. `passes` is true when Kubernetes is about to delete the object."""

    message: str
    passes: bool


class _Whose(Enum):
    LEAVING = "owned by a deleted LLMService of this name"
    ORPHAN = "orphaned by an earlier LLMService of this name"
    FOREIGN = "already exists and is not owned by this LLMService"


def name_conflict(owner: Owner, taken: Mapping[Ref, Manifest]) -> NameConflict:
    """The message about names that are not ours. No object is ever adopted automatically."""
    groups: dict[_Whose, dict[Ref, Manifest]] = defaultdict(dict)
    for ref, live in sorted(taken.items()):
        groups[_whose(owner, live)][ref] = live
    sentences = [_SENTENCES[whose](groups[whose]) for whose in _Whose if whose in groups]
    return NameConflict("; ".join(sentences), passes=set(groups) == {_Whose.LEAVING})


def _whose(owner: Owner, live: Manifest) -> _Whose:
    controller = controller_of(live)
    kind = (controller.get("apiVersion", "").partition("/")[0], controller.get("kind"), controller.get("name"))
    if is_being_deleted(live) or kind == (GROUP, KIND, owner.name):
        return _Whose.LEAVING
    is_labelled = (live["metadata"].get("labels") or {}).get(NAME_LABEL) == owner.name
    return _Whose.ORPHAN if not controller and is_labelled and digest_of(live) else _Whose.FOREIGN


def _leaving(group: Mapping[Ref, Manifest]) -> str:
    return f"{_names(group)}: {_Whose.LEAVING.value}, still being deleted; wait"


def _orphaned(group: Mapping[Ref, Manifest]) -> str:
    namespace = next(iter(group)).namespace
    objects = " ".join(f"{ref.kind.lower()}/{ref.name}" for ref in group)
    return (
        f"{_names(group)}: {_Whose.ORPHAN.value}, left unchanged; delete it with `kubectl -n {namespace} delete "
        f"{objects}` (it stops serving), or keep it by making this LLMService its controller"
    )


def _foreign(group: Mapping[Ref, Manifest]) -> str:
    owners = [f"{owner['kind']} {owner['name']}" for live in group.values() if (owner := controller_of(live))]
    whose = f" ({sentence(', '.join(dict.fromkeys(owners)))})" if owners else ""
    return f"{_names(group)}: {_Whose.FOREIGN.value}{whose}, left unchanged; rename this LLMService, or delete it"


def _names(group: Mapping[Ref, Manifest]) -> str:
    return ", ".join(f"{ref.kind} {ref.name}" for ref in group)


_SENTENCES = {_Whose.LEAVING: _leaving, _Whose.ORPHAN: _orphaned, _Whose.FOREIGN: _foreign}
