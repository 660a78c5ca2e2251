"""Every combination of values that matters renders to objects that each Kubernetes understands."""

import functools
import json
from collections.abc import Iterator
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]  # it has no types
import pytest

from tests.charts.cases import COMBINATIONS, FEATURES, SCOPES
from tests.charts.rendering import CHART, MONITORING_KINDS, SYSTEM, chart, overlay, pod_of
from tools.chart.values_table import values_in

VERSIONS = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.37")
CLUSTER_WIDE = {
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "Namespace",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
}
ALL_OVERLAYS = ("cluster", "namespaced", "high-availability", "monitoring", "ui")


@functools.cache
def complaints(text: str) -> list[str]:
    """What is wrong with an object, by the schemas of every version; unknown fields are wrong too."""
    body, found = json.loads(text), []
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(body, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            found.append(f"{version} {body['kind']}: {error.message}")
    return found


def wrong_with(bodies: list[dict[str, Any]]) -> list[str]:
    known = [body for body in bodies if body["kind"] not in MONITORING_KINDS]
    return [complaint for body in known for complaint in complaints(json.dumps(body, sort_keys=True))]


@pytest.mark.parametrize("values", COMBINATIONS.values(), ids=COMBINATIONS)
def test_each_object_is_valid_in_every_version(values: dict[str, Any]) -> None:
    assert wrong_with(chart(values, tests=True)) == []


@pytest.mark.parametrize("name", ALL_OVERLAYS)
def test_each_object_of_an_overlay_is_valid_in_every_version(name: str) -> None:
    assert wrong_with(overlay(name)) == []


def test_the_schemas_notice_a_field_that_does_not_exist() -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}, "spec": {}}
    assert len(wrong_with([account])) == len(VERSIONS)


@pytest.mark.parametrize("values", COMBINATIONS.values(), ids=COMBINATIONS)
def test_no_two_objects_share_a_name_and_each_says_its_namespace(values: dict[str, Any]) -> None:
    bodies = chart(values)
    names = [(body["kind"], body["metadata"].get("namespace"), body["metadata"]["name"]) for body in bodies]
    assert len(names) == len(set(names))
    assert {kind for kind, namespace, _ in names if namespace is None} <= CLUSTER_WIDE


@pytest.mark.parametrize("values", COMBINATIONS.values(), ids=COMBINATIONS)
def test_whoever_holds_a_role_is_the_account_that_the_pods_use(values: dict[str, Any]) -> None:
    bodies = chart(values)
    for body in bodies:
        of = "activator" if body["metadata"]["name"] == "llmservice-activator" else "operator"
        for holder in body.get("subjects", ()):
            account = pod_of(bodies, of)["spec"]["serviceAccountName"]
            assert holder == {"kind": "ServiceAccount", "name": account, "namespace": SYSTEM}


@pytest.mark.parametrize("name", FEATURES)
def test_each_feature_changes_what_is_rendered(name: str) -> None:
    """Otherwise a value is listed and does nothing."""
    assert (chart(FEATURES[name]) == chart()) is (name == "default")


def test_every_value_is_in_some_case() -> None:
    def paths(values: dict[str, Any], prefix: str = "") -> Iterator[str]:
        for name, value in values.items():
            yield f"{prefix}{name}"
            if isinstance(value, dict):
                yield from paths(value, f"{prefix}{name}.")

    used = {path for values in (*SCOPES.values(), *FEATURES.values()) for path in paths(values)}
    known = values_in((CHART / "values.yaml").read_text("utf-8"))
    assert [value.path for value in known if value.path not in used] == []
