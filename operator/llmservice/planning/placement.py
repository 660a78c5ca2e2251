"""Node selection: terms and tolerations of the accelerator, and those of spec.pod."""

from dataclasses import dataclass

from llmservice.api.v1alpha1.pod import PodOptions
from llmservice.planning.facts import Facts
from llmservice.planning.service_plan import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """`node_terms` are ORed nodeSelectorTerms, the detected platform's first; `tolerations` in a fixed order."""

    node_terms: tuple[Json, ...]
    tolerations: tuple[Json, ...]
    notes: tuple[str, ...] = ()


def choose_placement(pod: PodOptions, facts: Facts, wanted_type: str | None) -> Placement:
    """Nodes with the device, by the labels of every platform: the scheduler ORs terms, Karpenter tries them in turn.

    A device known by its resource alone selects no nodes: requesting the resource is enough.
    """
    own = tuple(toleration.as_json() for toleration in pod.tolerations)
    accelerator = facts.accelerator
    given = accelerator.tolerations if accelerator else ()
    terms = sorted(accelerator.node_terms, key=lambda term: term.platform != facts.platform) if accelerator else []
    return Placement(
        node_terms=tuple(term.term for term in terms),
        tolerations=_distinct((*given, *facts.registry.tolerations, *own)),
        notes=_notes(facts, wanted_type),
    )


def _distinct(tolerations: tuple[Json, ...]) -> tuple[Json, ...]:
    """Without duplicates, in the order of first occurrence."""
    seen: list[Json] = []
    for toleration in tolerations:
        if toleration not in seen:
            seen.append(toleration)
    return tuple(seen)


def _notes(facts: Facts, wanted_type: str | None) -> tuple[str, ...]:
    accelerator = facts.accelerator
    if accelerator is None or wanted_type is None or accelerator.node_terms:
        return ()
    if accelerator.name:
        return (f"no node label is known for {accelerator.name}: any node with {accelerator.resource_name} is used",)
    return (f"{wanted_type} is not in the catalogue: any node with {accelerator.resource_name} is used",)
