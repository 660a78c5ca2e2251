"""Chart and kustomize install the same, and what is made from other files is as they are now."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.charts.rendering import (
    CHART,
    ROOT,
    SYSTEM,
    chart,
    deployment,
    kustomized,
    objects_in,
    of_kind,
    one,
    overlay,
    text_of,
)
from tools.chart.__main__ import FILES

Body = dict[str, Any]

HELM_LABELS = (
    "app.kubernetes.io/instance",
    "app.kubernetes.io/version",
    "app.kubernetes.io/managed-by",
    "helm.sh/chart",
)
_MONITORING = ("serviceMonitor", "enginePodMonitor", "prometheusRule", "dashboard")
_SPREAD = [
    {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"},
    {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"},
]
TWINS: dict[str, Body] = {
    "cluster": {},
    "namespaced": {"scope": "namespaced"},
    "high-availability": {
        "replicas": 3,
        "topologySpread": _SPREAD,
        "activator": {"replicas": 3, "topologySpread": _SPREAD},
    },
    "ui": {"ui": {"enabled": True}},
    "monitoring": {"monitoring": {name: {"enabled": True} for name in _MONITORING}},
}
"""Each overlay and the values that say the same."""

UNFIT_FOR_GITOPS = (
    r"\b(lookup|now|date\w*|rand\w+|uuidv4|gen\w+|derivePassword|htpasswd|encryptAES|env|expandenv|getHostByName)\b"
)


def plain(body: Body) -> Body:
    """An object without what only Helm says of it."""
    metadata = {**body["metadata"], "labels": dict(body["metadata"].get("labels", {}))}
    for label in HELM_LABELS:
        metadata["labels"].pop(label, None)
    metadata.get("annotations", {}).pop("helm.sh/resource-policy", None)
    return {**body, "metadata": {name: value for name, value in metadata.items() if value}}


def by_name(bodies: list[Body]) -> dict[tuple[str, str, str], Body]:
    return {
        (body["kind"], body["metadata"].get("namespace", ""), body["metadata"]["name"]): plain(body)
        for body in bodies
        if body["kind"] != "Namespace"  # Helm's --create-namespace makes it
    }


@pytest.mark.parametrize("name", TWINS)
def test_chart_and_overlay_are_the_same_objects(name: str) -> None:
    assert by_name(chart(TWINS[name])) == by_name(overlay(name))


@pytest.mark.parametrize("name", TWINS)
def test_the_namespace_of_others_is_no_part_of_what_is_installed(name: str) -> None:
    """Taken up, it would get our labels, and go with the operator."""
    found = [body["metadata"]["name"] for body in of_kind(overlay(name), "Namespace")]
    assert found == ([] if name == "namespaced" else [SYSTEM])


def test_every_overlay_has_a_twin() -> None:
    assert {path.name for path in (ROOT / "manifests" / "overlays").iterdir()} == TWINS.keys()


def kustomization(folder: Path, namespace: str, overlay: str, *components: str) -> list[Body]:
    """What a kustomization of one's own over an overlay makes, in a namespace."""
    manifests = os.path.relpath(ROOT / "manifests", folder.resolve())
    content = {
        "namespace": namespace,
        "resources": [f"{manifests}/overlays/{overlay}"],
        "components": [f"{manifests}/components/{name}" for name in components],
        "transformers": [f"{manifests}/transformers/operator-policy"],
    }
    (folder / "kustomization.yaml").write_text(json.dumps(content))
    return kustomized(folder)


def test_the_policy_for_people_is_the_same_as_a_component(tmp_path: Path) -> None:
    bodies = kustomization(tmp_path, SYSTEM, "cluster", "user-policy")
    assert by_name(chart({"admission": {"users": {"enabled": True}}})) == by_name(bodies)


def test_another_namespace_reaches_the_operators_policy(tmp_path: Path) -> None:
    """It stands where kustomize does not look for namespaces."""
    policy = one(kustomization(tmp_path, "team-a", "namespaced"), "ValidatingAdmissionPolicy")
    assert policy["metadata"]["name"] == "llmservice-operator.team-a"
    assert "namespace" not in policy["metadata"]
    (condition,) = policy["spec"]["matchConditions"]
    assert condition["expression"].endswith("'system:serviceaccount:team-a:llmservice-operator'")
    assert SYSTEM not in str(policy)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_is_made_from_other_files_is_up_to_date(path: Path) -> None:
    assert path.read_text("utf-8") == FILES[path](), "run `make charts`"


def test_the_one_file_is_the_cluster_overlay() -> None:
    assert objects_in((ROOT / "manifests" / "install.yaml").read_text("utf-8")) == overlay("cluster")


def test_the_kustomization_on_the_page_is_one_in_which_components_meet_another_overlay(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "install.md").read_text("utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    manifests = os.path.relpath(ROOT / "manifests", tmp_path.resolve())
    (tmp_path / "kustomization.yaml").write_text(block.replace("- manifests/", f"- {manifests}/"))
    bodies = kustomized(tmp_path)
    assert [deployment(bodies, name)["spec"]["replicas"] for name in ("operator", "activator")] == [3, 3]
    assert {body["metadata"]["namespace"] for body in of_kind(bodies, "PodMonitor")} == {SYSTEM}


def test_two_renders_are_the_same_bytes() -> None:
    values = TWINS["monitoring"]
    assert text_of(values) == text_of({**values, "replicas": 2})  # another key for the cache, the same values


def test_no_template_asks_the_cluster_the_clock_or_chance() -> None:
    """Argo CD renders without a cluster, and again and again."""
    for template in filter(Path.is_file, (CHART / "templates").rglob("*")):
        actions = " ".join(
            re.findall(r"\{\{.*?\}\}", re.sub(r"\{\{/\*.*?\*/\}\}", "", template.read_text(), flags=re.DOTALL))
        )
        assert re.findall(UNFIT_FOR_GITOPS, actions) == [], template.name
