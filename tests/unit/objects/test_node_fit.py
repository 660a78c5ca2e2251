"""Which nodes the scheduler would consider for a pod."""

from typing import Any

import pytest

from llmservice.objects.node_fit import admits

LABELS = {"gpu": "L4", "zone": "a", "memory": "24"}
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


def terms(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": list(terms)
    }}}}  # fmt: skip


def label(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("spec", "admitted"),
    [
        ({}, True),
        ({"nodeSelector": {"gpu": "L4"}}, True),
        ({"nodeSelector": {"gpu": "L4", "zone": "b"}}, False),
        (terms(label("gpu", "In", "L4", "T4")), True),
        (terms(label("gpu", "In", "T4")), False),
        (terms(label("gpu", "In", "T4"), label("zone", "In", "a")), True),
        (terms({}), False),
        (terms(), False),
        (terms(label("gpu", "NotIn", "T4")), True),
        (terms(label("absent", "NotIn", "T4")), True),
        (terms(label("gpu", "NotIn", "L4")), False),
        (terms(label("gpu", "Exists")), True),
        (terms(label("absent", "Exists")), False),
        (terms(label("absent", "DoesNotExist")), True),
        (terms(label("gpu", "DoesNotExist")), False),
        (terms(label("memory", "Gt", "16")), True),
        (terms(label("memory", "Gt", "24")), False),
        (terms(label("memory", "Lt", "40")), True),
        (terms(label("gpu", "Lt", "40")), False),
        (terms(label("absent", "Gt", "1")), False),
        (terms(label("gpu", "Near", "L4")), False),
        (terms({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}), True),
        (terms({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}), False),
    ],
)
def test_labels_and_names(spec: dict[str, Any], *, admitted: bool) -> None:
    assert admits(LABELS, "n1", (), spec) is admitted


@pytest.mark.parametrize(
    ("toleration", "admitted"),
    [
        (None, False),
        ({"key": "nvidia.com/gpu", "operator": "Exists"}, True),
        ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "nvidia.com/gpu", "value": "present"}, True),
        ({"key": "nvidia.com/gpu", "operator": "Equal", "value": "other"}, False),
        ({"operator": "Exists"}, True),
        ({"key": "amd.com/gpu", "operator": "Exists"}, False),
        ({"value": "present"}, False),
    ],
)
def test_taints_keep_off_what_does_not_tolerate_them(toleration: dict[str, Any] | None, *, admitted: bool) -> None:
    assert admits({}, "n1", [TAINT], {"tolerations": [toleration]} if toleration else {}) is admitted


def test_a_taint_that_only_prefers_keeps_nothing_off() -> None:
    assert admits({}, "n1", [{**TAINT, "effect": "PreferNoSchedule"}], {})
