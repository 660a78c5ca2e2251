"""The children: how many, in which order, and each in the form the API server stores."""

from typing import Any

import pytest

from llmservice.objects.references import Manifest
from llmservice.objects.workloads import GROUPS
from llmservice.planning.render_version import RENDER_VERSION
from llmservice.rendering.affinity import affinity
from llmservice.rendering.manifests import CHILD_KINDS, render
from tests.unit.planning.planned import HUB, L4, planned, rendered

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@pytest.mark.parametrize(
    ("replicas", "kinds"),
    [
        (None, ["Service", "Deployment"]),
        (1, ["Service", "Deployment"]),
        (2, ["Service", "PodDisruptionBudget", "Deployment"]),
    ],
)
def test_a_budget_comes_with_a_bound_above_one(replicas: int | None, kinds: list[str]) -> None:
    children = render(planned(spec__replicas=replicas), replicas)
    assert [child["kind"] for child in children] == kinds
    assert set(kinds) <= set(CHILD_KINDS)


def test_a_budget_never_protects_a_replica_that_is_not_ready() -> None:
    """Else it refuses every eviction while none is ready, and no node can be drained."""
    spec = rendered("PodDisruptionBudget", spec__replicas=2)["spec"]
    assert (spec["maxUnavailable"], spec["unhealthyPodEvictionPolicy"]) == (1, "AlwaysAllow")


@pytest.mark.parametrize("kind", CHILD_KINDS)
def test_a_child_belongs_to_its_resource(kind: str) -> None:
    nodes: dict[str, Any] = {"spec__engine": "vllm", "spec__gpu": {"type": "L4", "nodes": 2}} if kind == GROUPS else {}
    metadata = rendered(kind, spec__replicas=2, spec__networkPolicy={"ingressFrom": []}, **nodes)["metadata"]
    (owner,) = metadata["ownerReferences"]
    assert (metadata["name"], metadata["namespace"]) == ("chat", "ml")
    assert (owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == (
        "0b5c1f3e-0000-4000-8000-000000000001",
        True,
        False,
    )


def test_without_a_cluster_there_is_no_owner() -> None:
    assert "ownerReferences" not in rendered("Service", metadata__uid=None)["metadata"]


def test_labels_and_annotations_of_the_resource_are_not_copied_down() -> None:
    changes: dict[str, Any] = {"metadata__labels": {"argocd": "x"}, "metadata__annotations": {"argocd": "y"}}
    for kind in ("Service", "Deployment"):
        assert "argocd" not in str(rendered(kind, **changes))


def test_a_network_policy_restricts_the_port_of_its_own_pods_and_nothing_that_leaves_them() -> None:
    spec = rendered("NetworkPolicy", spec__networkPolicy={"ingressFrom": [{"podSelector": {}}]})["spec"]
    (rule,) = spec["ingress"]
    assert spec["podSelector"] == {"matchLabels": {"llmservice.dev/name": "chat"}}
    assert spec["policyTypes"] == ["Ingress"]
    assert rule["ports"] == [{"protocol": "TCP", "port": "http"}]
    assert rule["from"][0] == {"podSelector": {}}


def test_the_service_finds_the_pods() -> None:
    spec = rendered("Service")["spec"]
    labels = rendered("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert spec["selector"].items() <= labels.items()
    assert spec["ports"] == [
        {"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP", "appProtocol": "http"}
    ]


@pytest.mark.parametrize("replicas", [0, 3])
def test_replicas_are_stated(replicas: int) -> None:
    assert rendered("Deployment", replicas=replicas)["spec"]["replicas"] == replicas


def test_replicas_are_left_to_their_owner() -> None:
    assert "replicas" not in rendered("Deployment", replicas=None)["spec"]


def test_the_render_version_stands_on_the_workload_and_not_in_its_template() -> None:
    deployment = rendered("Deployment")
    assert deployment["metadata"]["annotations"] == {"llmservice.dev/render-version": str(RENDER_VERSION)}
    assert "annotations" not in deployment["spec"]["template"]["metadata"]


def test_the_users_labels_cannot_take_the_place_of_ours() -> None:
    labels = rendered("Deployment", spec__pod__labels={"team": "a"})["spec"]["template"]["metadata"]["labels"]
    assert (labels["team"], labels["llmservice.dev/name"]) == ("a", "chat")


def pod(**changes: Any) -> Manifest:
    template: Manifest = rendered("Deployment", **changes)["spec"]["template"]["spec"]
    return template


def test_an_engine_that_ignores_sigterm_as_process_1_is_not_process_1() -> None:
    assert pod()["shareProcessNamespace"] is True


def test_the_container_stops_after_its_requests() -> None:
    (container,) = pod()["containers"]
    command = container["lifecycle"]["preStop"]["exec"]["command"]
    assert (container["name"], command[:2], command[4]) == ("engine", ["/bin/sh", "-c"], "305")


def test_every_volume_is_mounted_and_every_mount_has_its_volume() -> None:
    spec = pod(**HUB, spec__gpu={"type": "L4", "count": 2})
    mounted = [mount["name"] for mount in spec["containers"][0]["volumeMounts"]]
    assert mounted == [volume["name"] for volume in spec["volumes"]] == ["cache", "shared-memory"]


def test_a_spread_without_a_selector_counts_the_pods_of_the_resource() -> None:
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    own = {**spread, "topologyKey": "rack", "labelSelector": {"matchLabels": {"a": "b"}}}
    first, second = pod(spec__pod__topologySpreadConstraints=[spread, own])["topologySpreadConstraints"]
    assert first["labelSelector"] == {"matchLabels": {"llmservice.dev/name": "chat"}}
    assert second["labelSelector"] == {"matchLabels": {"a": "b"}}


def test_the_users_terms_are_joined_with_each_of_the_devices() -> None:
    terms = [{"matchExpressions": ["d1"]}, {"matchExpressions": ["d2"]}]
    own = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": ["f"]}, {"matchExpressions": ["u"]}]}}}
    assert affinity(own, terms)["nodeAffinity"][REQUIRED]["nodeSelectorTerms"] == [
        {"matchExpressions": ["d1"], "matchFields": ["f"]},
        {"matchExpressions": ["d1", "u"]},
        {"matchExpressions": ["d2"], "matchFields": ["f"]},
        {"matchExpressions": ["d2", "u"]},
    ]


def test_preferences_and_pod_affinity_stay_beside_the_devices_nodes() -> None:
    own = {"podAntiAffinity": {"x": 1}, "nodeAffinity": {"preferred": [1]}}
    merged = affinity(own, [{"matchExpressions": ["d"]}])
    assert merged["podAntiAffinity"] == {"x": 1}
    assert merged["nodeAffinity"]["preferred"] == [1]


def test_without_a_device_the_users_affinity_is_as_written() -> None:
    assert affinity({"podAffinity": {"x": 1}}, ()) == {"podAffinity": {"x": 1}}


def values_in(manifest: Any) -> list[Any]:
    if isinstance(manifest, dict):
        return [manifest, *(value for child in manifest.values() for value in values_in(child))]
    if isinstance(manifest, list | tuple):
        return [manifest, *(value for child in manifest for value in values_in(child))]
    return [manifest]


@pytest.mark.parametrize("changes", [{}, HUB | L4, {"spec__replicas": 2, "spec__pod__nodeSelector": {"a": "b"}}])
def test_nothing_empty_is_written(changes: dict[str, Any]) -> None:
    """The API server drops empty values; only an emptyDir is there by being empty."""
    for child in render(planned(**changes), 1):
        empty = [value for value in values_in(child) if value in (None, [], (), "")]
        assert empty == []
        assert str(child).count("{}") == str(child).count("'emptyDir': {}")
