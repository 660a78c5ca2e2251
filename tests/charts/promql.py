"""What a PromQL expression asks for, against what a replica of the operator exports and what rules record."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from tools.dashboard.engine_rules import engine_groups
from tools.dashboard.fleet_rules import fleet_groups
from tools.reference.metrics import Family, families

OF_THE_SCRAPE = {"instance", "job", "pod", "container", "le"}
"""Labels that Prometheus adds, and that of a histogram's buckets."""

OF_OTHERS: Mapping[str, set[str]] = {
    "kube_node_status_allocatable": {"resource"},
    "kube_pod_container_resource_requests": {"resource"},
}
"""Series of kube-state-metrics."""

_METRIC = re.compile(r"\b(?:llmservice|kube|controller_runtime|workqueue|rest_client|leader_election|process)_\w+")
_BY = re.compile(r"\b(?:by|on) \(([\w, ]*)\)")
_SELECTED = re.compile(r'(\w+)(?:=~|!~|!=|=)"')
_RECORDED = re.compile(r"\bllmservice:[\w:]+")
_FAMILIES = {family.name: family for family in families()}


def unknown_metrics(expression: str) -> set[str]:
    """Names in the expression that no replica exports and no rule records."""
    return {name for name in metrics(expression) if _labels_of(name) is None}


def unknown_labels(expression: str) -> set[str]:
    """Labels it selects or groups by that none of its metrics has."""
    had = {label for name in metrics(expression) for label in _labels_of(name) or ()}
    return set(_labels(expression)) - had - OF_THE_SCRAPE


def metrics(expression: str) -> list[str]:
    """The names in the expression."""
    return [*_METRIC.findall(expression), *_RECORDED.findall(expression)]


def _labels(expression: str) -> Iterator[str]:
    for names in _BY.findall(expression):
        yield from filter(None, re.split(r",\s*", names))
    yield from _SELECTED.findall(expression)


def _labels_of(name: str) -> set[str] | None:
    """None for a series that nobody makes."""
    if (family := _family(name)) is not None:
        return set(family.labels)
    return OF_OTHERS.get(name) or _recorded().get(name)


def _family(name: str) -> Family | None:
    """A histogram is asked for by its parts."""
    if (family := _FAMILIES.get(name)) is not None:
        return family if family.kind != "histogram" else None
    base = re.sub(r"_(bucket|count|sum)$", "", name)
    return _FAMILIES[base] if base in _FAMILIES and _FAMILIES[base].kind == "histogram" else None


@cache
def _recorded() -> dict[str, set[str]]:
    """The labels of each recorded series: those that its expression keeps, and those that the rule adds."""
    found: dict[str, set[str]] = {}
    for group in (*engine_groups(), *fleet_groups()):
        for rule in group["rules"]:
            named = [found.get(name, set()) for name in _RECORDED.findall(rule["expr"])]
            labels = {*_labels(rule["expr"]), *rule.get("labels", {})}.union(*named)
            found[rule["record"]] = found.get(rule["record"], set()) | labels
    return found
