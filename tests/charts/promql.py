"""What a PromQL expression asks for, against what a replica of the operator exports."""

import re
from collections.abc import Iterator

from tools.reference.metrics import Family, families

OF_THE_SCRAPE = {"instance", "job", "pod", "container", "le"}
"""Labels that Prometheus adds, and that of a histogram's buckets."""

_METRIC = re.compile(r"\b(?:llmservice|controller_runtime|workqueue|rest_client|leader_election|process)_\w+")
_BY = re.compile(r"\b(?:by|on) \(([\w, ]*)\)")
_SELECTED = re.compile(r'(\w+)(?:=~|!~|!=|=)"')
_FAMILIES = {family.name: family for family in families()}


def unknown_metrics(expression: str) -> set[str]:
    """Names in the expression that no replica exports."""
    return {name for name in _METRIC.findall(expression) if _family(name) is None}


def unknown_labels(expression: str) -> set[str]:
    """Labels it selects or groups by that none of its metrics has."""
    had = {label for name in _METRIC.findall(expression) if (family := _family(name)) for label in family.labels}
    return set(_labels(expression)) - had - OF_THE_SCRAPE


def metrics(expression: str) -> list[str]:
    """The names in the expression."""
    return _METRIC.findall(expression)


def _labels(expression: str) -> Iterator[str]:
    for names in _BY.findall(expression):
        yield from filter(None, re.split(r",\s*", names))
    yield from _SELECTED.findall(expression)


def _family(name: str) -> Family | None:
    """A histogram is asked for by its parts."""
    if (family := _FAMILIES.get(name)) is not None:
        return family if family.kind != "histogram" else None
    base = re.sub(r"_(bucket|count|sum)$", "", name)
    return _FAMILIES[base] if base in _FAMILIES and _FAMILIES[base].kind == "histogram" else None
