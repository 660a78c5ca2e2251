"""Node selection: terms and tolerations of the accelerator, and those of spec.pod."""

from dataclasses import dataclass

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Json
from llmservice.planning.device_support import MACHINE, variant_of
from llmservice.planning.facts import Facts, gpu_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """`node_terms` are ORed nodeSelectorTerms, the detected platform's first; `tolerations` in a fixed order."""

    node_terms: tuple[Json, ...]
    tolerations: tuple[Json, ...]
    notes: tuple[str, ...] = ()


def choose_placement(spec: LLMServiceSpec, facts: Facts) -> Placement:
    """Nodes with the device, by the labels of every platform: the scheduler ORs terms, Karpenter tries them in turn.

    A device known by its resource alone chooses no nodes: requesting the resource is enough. Nodes whose devices are
    divided are avoided, unless the pod's own nodeSelector says something about that label.
    """
    own = tuple(toleration.as_json() for toleration in spec.pod.tolerations)
    accelerator = facts.accelerator
    given = accelerator.tolerations if accelerator else ()
    chosen = sorted(accelerator.node_terms, key=lambda term: term.platform != facts.platform) if accelerator else []
    required = [each for each in _required(spec, facts) if each["key"] not in spec.pod.node_selector]
    return Placement(
        node_terms=_with(required, [term.term for term in chosen]),
        tolerations=_distinct((*given, *facts.registry.tolerations, *own)),
        notes=_notes(facts, gpu_of(spec.gpu, facts.choice).type),
    )


def _required(spec: LLMServiceSpec, facts: Facts) -> tuple[Json, ...]:
    """What every node must have: no divided devices, and a machine that the image exists for."""
    avoided = facts.accelerator.avoided if facts.accelerator else ()
    support = facts.version.support.get(variant_of(facts.accelerator))
    if spec.engine_options.image is not None or support is None or not support.machines:
        return avoided
    return (*avoided, {"key": MACHINE, "operator": "In", "values": list(support.machines)})


def _with(required: list[Json], terms: list[Json]) -> tuple[Json, ...]:
    """Each term with what every node must have; that alone where there is no term."""
    if not required:
        return tuple(terms)
    found = [list(term["matchExpressions"]) for term in terms] or [[]]
    return tuple({"matchExpressions": [*expressions, *required]} for expressions in found)


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
