"""`UpdateAvailable`: what a newer operator, catalogue or setting would change in the running replicas."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition
from llmservice.objects.names import RENDER_VERSION_ANNOTATION, UPDATE_ANNOTATION
from llmservice.objects.references import Manifest, ref_of
from llmservice.planning.render_version import RENDER_VERSION
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.manifests import render

_NAMED_AT_MOST = 6

_BOOKKEEPING = frozenset({RENDER_VERSION_ANNOTATION})
"""Our own annotations that change with every version and restart nothing."""


def made_by_newer(plan: ServicePlan) -> bool:
    """Whether a newer operator rendered the workload: then it stays unchanged until the spec changes."""
    return plan.render_version > RENDER_VERSION


def update_condition(plan: ServicePlan, newest: ServicePlan | None) -> Condition | None:
    """What would change; None when nothing would. `newest` is the plan from the current facts."""
    if made_by_newer(plan):
        return Condition(
            type=ConditionType.UPDATE_AVAILABLE,
            status=False,
            reason=Reason.MADE_BY_NEWER_OPERATOR,
            message=f"a newer operator rendered the replicas (render version {plan.render_version}, this one has "
            f"{RENDER_VERSION}): they stay unchanged until the spec changes; upgrade the operator again",
        )
    changes = [] if newest is None else sorted(set(_changes(render(plan, None), render(newest, None))))
    if not changes:
        return None
    more = f" and {len(changes) - _NAMED_AT_MOST} more" if len(changes) > _NAMED_AT_MOST else ""
    return Condition(
        type=ConditionType.UPDATE_AVAILABLE,
        status=True,
        reason=Reason.NEWER_PLAN,
        message=f"current operator, catalogue and settings would change {', '.join(changes[:_NAMED_AT_MOST])}{more}; "
        f"to apply it, edit the spec or set the annotation {UPDATE_ANNOTATION} to a new value (replicas restart)",
    )


def _changes(old: Iterable[Manifest], new: Iterable[Manifest]) -> Iterator[str]:
    before, after = ({ref_of(manifest): manifest for manifest in manifests} for manifests in (old, new))
    for ref in before.keys() | after.keys():
        yield from _paths(before.get(ref, {}), after.get(ref, {}), ref.kind)


def _paths(old: Any, new: Any, path: str) -> Iterator[str]:
    """Paths at which two JSON values differ; list elements are matched by name, else the list counts as one value."""
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in (old.keys() | new.keys()) - _BOOKKEEPING:
            yield from _paths(old.get(key), new.get(key), f"{path}.{key}")
    elif all(named := (_by_name(old), _by_name(new))):
        yield from _paths(*named, path)
    else:
        yield path


def _by_name(items: Any) -> Mapping[str, Any]:
    """A list as a mapping by its elements' names; empty when they have none."""
    if not isinstance(items, Sequence) or isinstance(items, str):
        return {}
    named = {item["name"]: item for item in items if isinstance(item, Mapping) and "name" in item}
    return named if len(named) == len(items) else {}
