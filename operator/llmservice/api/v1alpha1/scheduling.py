"""Where pods may run: affinity, tolerations and spreading, typed and bounded.

The shapes are those of the core/v1 API, less what reaches into other namespaces.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.lists import Unique
from llmservice.api.v1alpha1.text import LABEL_KEY, KeyForm, LabelKey, LabelValue

Labels = Annotated[Mapping[LabelKey, LabelValue], Field(max_length=64), KeyForm(LABEL_KEY)]
Weight = Annotated[int, Field(strict=True, ge=1, le=100)]
LabelKeys = Annotated[tuple[LabelKey, ...], Field(max_length=8), Unique()]
_Values = Annotated[tuple[Annotated[str, Field(max_length=63)], ...], Field(max_length=64)]


class LabelRequirement(ApiModel):
    """One requirement on the labels of pods."""

    key: LabelKey
    """Label key."""
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    """How the label relates to the values."""
    values: _Values = ()
    """Values for In and NotIn."""

    rules: ClassVar = (
        Rule(
            cel="(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
            holds=lambda part: (part.operator in {"In", "NotIn"}) == bool(part.values),
            message="In and NotIn need values, Exists and DoesNotExist take none: add or remove values",
            field_path=".values",
        ),
    )


class LabelSelector(ApiModel):
    """Pods by their labels; all requirements must hold."""

    match_labels: Labels = Field(default_factory=dict)
    """Labels with exactly these values."""
    match_expressions: Annotated[tuple[LabelRequirement, ...], Field(max_length=16)] = ()
    """Further requirements."""


class NodeRequirement(ApiModel):
    """One requirement on the labels or fields of nodes."""

    key: LabelKey
    """Label key, or metadata.name in matchFields."""
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
    """How the label relates to the values."""
    values: _Values = ()
    """Values; exactly one whole number for Gt and Lt."""

    rules: ClassVar = (
        Rule(
            cel="(self.operator in ['Exists', 'DoesNotExist']) != (has(self.values) && size(self.values) > 0)",
            holds=lambda part: (part.operator in {"Exists", "DoesNotExist"}) != bool(part.values),
            message="Exists and DoesNotExist take no values, the other operators need them: add or remove values",
            field_path=".values",
        ),
        Rule(
            cel="!(self.operator in ['Gt', 'Lt'] && has(self.values) && size(self.values) > 0)"
            " || (size(self.values) == 1 && self.values[0].matches('^[0-9]+$'))",
            holds=lambda part: part.operator not in {"Gt", "Lt"} or not part.values or _is_one_number(part.values),
            message="Gt and Lt compare with one whole number: write it in quotes, alone",
            field_path=".values",
        ),
    )


def _is_one_number(values: tuple[str, ...]) -> bool:
    return len(values) == 1 and values[0].isascii() and values[0].isdecimal()


class NodeSelectorTerm(ApiModel):
    """Requirements on a node; all must hold."""

    match_expressions: Annotated[tuple[NodeRequirement, ...], Field(max_length=16)] = ()
    """Requirements on labels."""
    match_fields: Annotated[tuple[NodeRequirement, ...], Field(max_length=4)] = ()
    """Requirements on fields."""


class NodeSelector(ApiModel):
    """Nodes by terms; one of them must hold."""

    node_selector_terms: Annotated[tuple[NodeSelectorTerm, ...], Field(min_length=1, max_length=16)]
    """The terms."""


class PreferredNodes(ApiModel):
    """Nodes that are preferred."""

    weight: Weight
    """Weight of the preference, 1 to 100."""
    preference: NodeSelectorTerm
    """The nodes."""


class NodeAffinity(ApiModel):
    """Which nodes pods run on. Required terms are added to those of `spec.gpu.type`."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    """Nodes pods must run on."""
    preferred_during_scheduling_ignored_during_execution: Annotated[
        tuple[PreferredNodes, ...], Field(max_length=16)
    ] = ()
    """Nodes pods should run on."""


class PodAffinityTerm(ApiModel):
    """Pods of the same namespace, and the part of the cluster within which they count."""

    label_selector: LabelSelector | None = None
    """The pods."""
    topology_key: LabelKey
    """Node label whose equal values make up one place."""
    match_label_keys: LabelKeys = ()
    """Pod labels whose values are taken from the pod that is placed."""
    mismatch_label_keys: LabelKeys = ()
    """Pod labels whose values must differ from those of the pod that is placed."""


class PreferredPods(ApiModel):
    """Pods whose nearness or distance is preferred."""

    weight: Weight
    """Weight of the preference, 1 to 100."""
    pod_affinity_term: PodAffinityTerm
    """The pods."""


class PodAffinity(ApiModel):
    """Which pods to be near to, or away from."""

    required_during_scheduling_ignored_during_execution: Annotated[
        tuple[PodAffinityTerm, ...], Field(max_length=8)
    ] = ()
    """Pods that must be near or away."""
    preferred_during_scheduling_ignored_during_execution: Annotated[tuple[PreferredPods, ...], Field(max_length=8)] = ()
    """Pods that should be near or away."""


class Affinity(ApiModel):
    """Affinity to nodes and pods."""

    node_affinity: NodeAffinity | None = None
    """Which nodes pods run on."""
    pod_affinity: PodAffinity | None = None
    """Which pods to be near to."""
    pod_anti_affinity: PodAffinity | None = None
    """Which pods to be away from."""


class Toleration(ApiModel):
    """A taint of nodes that pods tolerate."""

    key: LabelKey | None = None
    """Taint key. Omitted, with operator Exists: every taint."""
    operator: Literal["Exists", "Equal"] | None = None
    """How the key relates to the value. Omitted: Equal."""
    value: LabelValue | None = None
    """Taint value."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """Taint effect. Omitted: every effect."""
    toleration_seconds: Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)] | None = None
    """Seconds a NoExecute taint is tolerated. Omitted: for ever."""

    rules: ClassVar = (
        Rule(
            cel="has(self.key) || (has(self.operator) && self.operator == 'Exists')",
            holds=lambda toleration: toleration.key is not None or toleration.operator == "Exists",
            message="a toleration without a key needs operator: Exists",
        ),
        Rule(
            cel="!(has(self.operator) && self.operator == 'Exists') || !has(self.value)",
            holds=lambda toleration: toleration.operator != "Exists" or toleration.value is None,
            message="operator Exists takes no value: remove value, or use Equal",
            field_path=".value",
        ),
        Rule(
            cel="!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
            holds=lambda toleration: toleration.toleration_seconds is None or toleration.effect == "NoExecute",
            message="only effect NoExecute has a time: remove tolerationSeconds, or set effect: NoExecute",
            field_path=".tolerationSeconds",
        ),
    )


class TopologySpreadConstraint(ApiModel):
    """How evenly pods are spread over places."""

    max_skew: Annotated[int, Field(strict=True, ge=1, le=1000)]
    """Largest difference in pods between two places."""
    topology_key: LabelKey
    """Node label whose equal values make up one place."""
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"]
    """What to do with a pod that would be one too many."""
    label_selector: LabelSelector | None = None
    """The pods that count. Omitted: those of this LLMService."""
    min_domains: Annotated[int, Field(strict=True, ge=1, le=1000)] | None = None
    """Least number of places."""
    node_affinity_policy: Literal["Honor", "Ignore"] | None = None
    """Whether nodes that the affinity excludes count as places."""
    node_taints_policy: Literal["Honor", "Ignore"] | None = None
    """Whether nodes whose taints are not tolerated count as places."""
    match_label_keys: LabelKeys = ()
    """Pod labels whose values are taken from the pod that is placed."""

    rules: ClassVar = (
        Rule(
            cel="!has(self.minDomains) || self.whenUnsatisfiable == 'DoNotSchedule'",
            holds=lambda spread: spread.min_domains is None or spread.when_unsatisfiable == "DoNotSchedule",
            message="minDomains needs whenUnsatisfiable: DoNotSchedule",
            field_path=".minDomains",
        ),
    )
