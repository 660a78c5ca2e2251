"""Does Git still say what the cluster holds? Asked as Flux asks, and as Argo CD asks."""

from collections.abc import Mapping
from typing import Any

Body = Mapping[str, Any]
_ABSENT = object()


def flux_drift(live: Body, applied: Body) -> dict[str, Any]:
    """What a server-side dry run would change: labels, annotations and all but metadata and status.

    Source: github.com/fluxcd/pkg, ssa/manager_diff.go (hasDrifted).
    """
    return _differing(_compared(live), _compared(applied))


def _compared(body: Body) -> dict[str, Any]:
    metadata = body["metadata"]
    rest = {key: value for key, value in body.items() if key not in {"metadata", "status"}}
    return {**rest, "labels": metadata.get("labels"), "annotations": metadata.get("annotations")}


def _differing(before: Body, after: Body) -> dict[str, Any]:
    return {key: (before.get(key), after.get(key)) for key in {*before, *after} if before.get(key) != after.get(key)}


def argo_patch(original: Any, modified: Any, live: Any) -> dict[str, Any]:
    """The three-way merge patch that would bring the live object to what Git says; empty when it is in sync.

    `original` is what was applied last. Deleted is what stood there and is gone from Git; set is what Git says and the
    live object does not. Lists are compared whole, as for every custom resource.
    Source: github.com/argoproj/gitops-engine, pkg/diff (ThreeWayDiff); k8s.io/apimachinery, jsonmergepatch.
    """
    patch: dict[str, Any] = {key: None for key in original if key not in modified and key in live}
    for key, wanted in modified.items():
        there = live.get(key, _ABSENT)
        if isinstance(wanted, Mapping) and isinstance(there, Mapping):
            if below := argo_patch(_part(original, key), wanted, there):
                patch[key] = below
        elif wanted != there:
            patch[key] = wanted
    return patch


def _part(body: Body, key: str) -> Body:
    value = body.get(key)
    return value if isinstance(value, Mapping) else {}
