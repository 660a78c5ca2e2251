"""Whether the scheduler would consider a node for a pod: node selector, required node affinity, taints.

The rules are those of kubernetes/component-helpers (scheduling/corev1: nodeaffinity, helpers.go). What it decides
besides (spreading, affinity between pods, volumes, CPU and memory) is left to it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

Json = Mapping[str, Any]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_KEEPING_OFF = frozenset({"NoSchedule", "NoExecute"})


def admits(labels: Mapping[str, str], name: str, taints: Iterable[Json], pod_spec: Json) -> bool:
    """Whether a node with these labels and taints is one that the pod may run on."""
    selector = pod_spec.get("nodeSelector") or {}
    chosen = all(labels.get(key) == value for key, value in selector.items())
    return chosen and _matches(_terms(pod_spec), labels, name) and _is_tolerated(taints, pod_spec)


def _terms(pod_spec: Json) -> list[Json] | None:
    """The ORed terms; None where there are none, so that every node matches."""
    affinity = (pod_spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get(_REQUIRED)
    return None if required is None else list(required.get("nodeSelectorTerms") or ())


def _matches(terms: list[Json] | None, labels: Mapping[str, str], name: str) -> bool:
    return terms is None or any(_meets(term, labels, name) for term in terms)


def _meets(term: Json, labels: Mapping[str, str], name: str) -> bool:
    """Whether every requirement holds; a term without any matches nothing."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    on_labels = all(_holds(requirement, labels) for requirement in expressions)
    return bool(expressions or fields) and on_labels and all(_holds(each, {"metadata.name": name}) for each in fields)


def _holds(requirement: Json, values: Mapping[str, str]) -> bool:
    found, wanted = values.get(requirement["key"]), requirement.get("values") or ()
    match requirement.get("operator"):
        case "In":
            return found in wanted
        case "NotIn":
            return found not in wanted
        case "Exists":
            return found is not None
        case "DoesNotExist":
            return found is None
        case "Gt" | "Lt" as operator:
            return _compares(operator, found, wanted)
    return False


def _compares(operator: str, found: str | None, wanted: Iterable[str]) -> bool:
    numbers = [int(text) for text in (found or "", *wanted) if text.lstrip("-").isdecimal() and len(text) < 20]  # noqa: PLR2004
    if len(numbers) != 2:  # noqa: PLR2004  (the label and one value)
        return False
    return numbers[0] > numbers[1] if operator == "Gt" else numbers[0] < numbers[1]


def _is_tolerated(taints: Iterable[Json], pod_spec: Json) -> bool:
    tolerations = pod_spec.get("tolerations") or ()
    keeping_off = [taint for taint in taints if taint.get("effect") in _KEEPING_OFF]
    return all(any(_tolerates(toleration, taint) for toleration in tolerations) for taint in keeping_off)


def _tolerates(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (taint.get("value") or "")
