"""The pod: nodes, tolerations, users, environment, volumes, and what passes through."""

from typing import Any

import pytest

from llmservice.planning.facts import RegistrySettings
from tests.unit.planning.planned import HUB, L4, planned, refused

OWN = {"image": "registry.example/npu:1", "version": "b11312"}


def platforms(**changes: Any) -> list[str]:
    return [term["matchExpressions"][0]["key"] for term in planned(**HUB, **L4, **changes).pod.node_terms]


def test_each_platform_that_labels_the_device_has_a_term() -> None:
    assert platforms() == [
        "nvidia.com/gpu.product",
        "cloud.google.com/gke-accelerator",
        "karpenter.k8s.aws/instance-gpu-name",
        "eks.amazonaws.com/instance-gpu-name",
    ]


@pytest.mark.parametrize(
    ("platform", "first"),
    [("gke", "cloud.google.com/gke-accelerator"), ("eks-auto", "eks.amazonaws.com/instance-gpu-name")],
)
def test_the_term_of_the_platform_comes_first(platform: str, first: str) -> None:
    """Karpenter tries them in turn."""
    keys = platforms(platform=platform)
    assert (keys[0], len(keys)) == (first, 4)


def test_a_karpenter_of_azure_is_not_asked_for_a_fraction_of_an_a10() -> None:
    """Its label of the model is the same on a sixth of one, with 4 GB."""
    terms = planned(**HUB, spec__gpu={"type": "A10"}, platform="aks-karpenter").pod.node_terms
    (wanted,) = [term["matchExpressions"][0] for term in terms if "nvidia.com/gpu.product" not in str(term)]
    assert wanted["key"] == "node.kubernetes.io/instance-type"
    assert wanted["values"] == ["Standard_NV36ads_A10_v5", "Standard_NV72ads_A10_v5"]


def test_a_device_known_by_its_resource_chooses_no_nodes_and_is_tolerated() -> None:
    plan = planned(**HUB, spec__gpu={"resourceName": "acme.example/npu"}, spec__engineOptions=OWN)
    assert plan.pod.node_terms == ()
    plan = planned(**HUB, spec__gpu={"resourceName": "nvidia.com/mig-1g.5gb"})
    assert plan.pod.tolerations[0] == {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("gpu", "name"),
    [
        ({"type": "B999", "resourceName": "nvidia.com/gpu"}, "B999"),
        ({"type": "Arc-Pro-B60"}, "gpu.intel.com/xe"),
    ],
)
def test_a_type_that_chooses_no_nodes_is_noted(gpu: dict[str, str], name: str) -> None:
    assert name in planned(**HUB, spec__gpu=gpu).notes[0]


def test_each_toleration_stands_once_in_the_order_device_cluster_user() -> None:
    device = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    cluster, user = {"key": "pool", "operator": "Exists"}, {"key": "team", "operator": "Exists"}
    plan = planned(
        registry=RegistrySettings(tolerations=(cluster,)), **HUB, **L4, spec__pod__tolerations=[device, user, cluster]
    )
    assert [toleration["key"] for toleration in plan.pod.tolerations] == ["nvidia.com/gpu", "sku", "pool", "team"]


def test_the_restricted_standard_is_kept_with_a_numeric_user() -> None:
    plan = planned()
    assert plan.pod_security == "restricted"
    assert plan.pod.security == {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "runAsGroup": 65532,
        "fsGroup": 65532,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert plan.pod.container_security == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def test_the_users_ids_win() -> None:
    ids = {"runAsUser": 5, "runAsGroup": 0, "fsGroup": 7, "supplementalGroups": [9, 8]}
    security = planned(spec__pod__securityContext=ids).pod.security
    assert {name: security[name] for name in ids} == {**ids, "supplementalGroups": [8, 9]}


def test_an_image_that_runs_as_root_passes_the_baseline_standard() -> None:
    plan = planned(**HUB, **L4, spec__engine="tgi", spec__engineOptions={"version": "3.3.5"})
    assert plan.pod_security == "baseline"
    assert any("pod-security.kubernetes.io/enforce: baseline" in note for note in plan.notes)


def test_a_device_that_needs_more_than_the_restricted_standard_says_so() -> None:
    plan = planned(**HUB, spec__gpu={"type": "MI300X"})
    assert plan.pod_security == "privileged"
    assert (plan.pod.security["seccompProfile"], plan.pod.security["supplementalGroups"]) == (
        {"type": "Unconfined"},
        [44, 109],
    )
    assert "pod-security.kubernetes.io/enforce: privileged" in plan.notes[0]


def test_the_groups_that_may_open_an_intel_device_are_within_the_restricted_standard() -> None:
    plan = planned(
        spec__engine="vllm",
        spec__model__uri="hf://acme/chat-7B",
        spec__gpu={"type": "Arc-Pro-B60"},
        spec__engineOptions={"version": "0.33.0", "image": "registry.example/xpu:1"},
    )
    assert (plan.pod.security["supplementalGroups"], plan.pod_security) == ([44, 109], "restricted")


def variables(**changes: Any) -> dict[str, Any]:
    return {item["name"]: item.get("value", item.get("valueFrom")) for item in planned(**changes).container.environment}


def test_the_token_is_a_reference() -> None:
    found = variables(**HUB, spec__model__tokenSecretRef={"name": "hub", "key": "token"})
    assert found["HF_TOKEN"] == {"secretKeyRef": {"name": "hub", "key": "token"}}


@pytest.mark.parametrize("uri", ["s3://bucket/chat-7B", "pvc://models/chat-7B"])
def test_a_token_beside_other_sources_is_for_what_else_the_engine_fetches(uri: str) -> None:
    token = {"name": "hub", "key": "token"}
    registry = RegistrySettings(hf_endpoint="https://hub.example")
    gpu: dict[str, Any] = {"spec__engine": "vllm", **L4}
    found = variables(registry=registry, **gpu, spec__model={"uri": uri, "tokenSecretRef": token})
    assert found["HF_TOKEN"] == {"secretKeyRef": token}
    assert found["HF_ENDPOINT"] == "https://hub.example"


def test_settings_of_the_cluster_reach_the_engine_and_the_user_may_replace_them() -> None:
    registry = RegistrySettings(hf_endpoint="https://hub.example", proxies={"HTTPS_PROXY": "http://p", "NO_PROXY": "x"})
    found = variables(registry=registry, **HUB, spec__engineOptions={"env": [{"name": "NO_PROXY", "value": "mine"}]})
    assert (found["HF_ENDPOINT"], found["HTTPS_PROXY"], found["NO_PROXY"]) == (
        "https://hub.example",
        "http://p",
        "mine",
    )


def test_a_claim_needs_no_endpoint_of_the_hub() -> None:
    assert "HF_ENDPOINT" not in variables(registry=RegistrySettings(hf_endpoint="https://hub.example"))


def test_several_devices_share_memory() -> None:
    mounts = {mount.path: mount.source for mount in planned(**HUB, spec__gpu={"type": "L4", "count": 2}).pod.mounts}
    assert mounts["/dev/shm"] == {"emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}}  # noqa: S108


@pytest.mark.parametrize(("engine", "shared"), [("vllm", True), ("llamacpp", False)])
def test_without_a_device_only_an_engine_that_needs_it_gets_shared_memory(engine: str, shared: bool) -> None:
    mounts = planned(spec__engine=engine, spec__gpu={"count": 0}).pod.mounts
    assert ("/dev/shm" in {mount.path for mount in mounts}) is shared  # noqa: S108


def test_a_file_appears_alone_at_its_path() -> None:
    reference = {"path": "/etc/chat/t.jinja", "configMapKeyRef": {"name": "chat", "key": "template"}}
    mount = planned(spec__engineOptions={"files": [reference]}).pod.mounts[-1]
    assert (mount.path, mount.sub_path, mount.read_only) == ("/etc/chat/t.jinja", "t.jinja", True)
    assert mount.source == {"configMap": {"name": "chat", "items": [{"key": "template", "path": "t.jinja"}]}}


def test_a_file_in_the_models_volume_is_refused() -> None:
    reference = {"path": "/models/t.jinja", "secretKeyRef": {"name": "chat", "key": "template"}}
    error = refused(spec__engineOptions={"files": [reference]})
    assert error.field == "spec.engineOptions.files[0].path"
    assert "/models" in str(error)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/cache", "/cache"),
        ("/dev/shm", "/dev/shm"),  # noqa: S108
        ("/dev", "/dev/shm"),  # noqa: S108
    ],
)
def test_a_file_in_the_place_of_a_volume_is_refused(path: str, names: str) -> None:
    """The API server would answer 500 to a path that is mounted twice, in every pass."""
    file = {"path": path, "configMapKeyRef": {"name": "chat", "key": "template"}}
    error = refused(**HUB, spec__gpu={"type": "L4", "count": 2}, spec__engineOptions={"files": [file]})
    assert error.field == "spec.engineOptions.files[0].path"
    assert names in str(error)


@pytest.mark.parametrize("paths", [("/etc/chat", "/etc/chat/t"), ("/etc/chat/t", "/etc/chat")])
def test_a_file_inside_another_is_refused(paths: tuple[str, str]) -> None:
    files = [{"path": path, "configMapKeyRef": {"name": "chat", "key": "template"}} for path in paths]
    assert refused(spec__engineOptions={"files": files}).field == "spec.engineOptions.files[0].path"


@pytest.mark.parametrize("path", ["/cache/t.jinja", "/cached", "/dev/shm/t"])  # noqa: S108
def test_a_file_in_or_beside_a_writable_volume_is_fine(path: str) -> None:
    file = {"path": path, "configMapKeyRef": {"name": "chat", "key": "template"}}
    plan = planned(**HUB, spec__gpu={"type": "L4", "count": 2}, spec__engineOptions={"files": [file]})
    assert plan.pod.mounts[-1].path == path


def test_a_file_there_is_fine_when_no_claim_is_mounted() -> None:
    reference = {"path": "/models/t.jinja", "secretKeyRef": {"name": "chat", "key": "template"}}
    assert planned(**HUB, spec__engineOptions={"files": [reference]}).pod.mounts[-1].path == "/models/t.jinja"


def test_pull_secrets_of_the_user_and_the_cluster_stand_once() -> None:
    plan = planned(
        registry=RegistrySettings(pull_secrets=("cluster", "own")), spec__pod__imagePullSecrets=[{"name": "own"}]
    )
    assert plan.pod.passthrough == {"imagePullSecrets": [{"name": "own"}, {"name": "cluster"}]}


def test_an_empty_field_does_not_pass_through() -> None:
    assert planned(spec__pod={"nodeSelector": {}, "hostAliases": [], "affinity": {}}).pod.passthrough == {}
