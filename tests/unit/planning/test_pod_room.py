"""Fast networks, huge pages, further volumes and fields of the pod: what is rendered of them."""

from typing import Any

import pytest

from llmservice.planning.pod_plan import Mount
from llmservice.planning.service_plan import ServicePlan
from tests.unit.planning.planned import HUB, L4, planned, rendered

ON_CLAIM: dict[str, Any] = {"spec__model__uri": "pvc://models/chat.gguf", **L4}


def mounted(plan: ServicePlan, path: str) -> Mount:
    (mount,) = (mount for mount in plan.pod.mounts if mount.path == path)
    return mount


def test_devices_of_the_network_are_asked_for_beside_the_gpus() -> None:
    devices = [{"resource": "rdma/hca_shared_devices_a"}, {"resource": "nvidia.com/hostdev", "count": 4}]
    container = planned(**HUB, **L4, spec__pod__networkDevices=devices).container
    wanted = {"rdma/hca_shared_devices_a": "1", "nvidia.com/hostdev": "4"}
    assert container.resource_limits == {**wanted, "nvidia.com/gpu": "1"}
    assert wanted.items() <= container.resource_requests.items()


def test_huge_pages_are_a_resource_and_a_volume() -> None:
    plan = planned(**HUB, **L4, spec__pod__hugePages={"size": "1Gi", "amount": "4096Mi"})
    for amounts in (plan.container.resource_requests, plan.container.resource_limits):
        assert amounts["hugepages-1Gi"] == "4Gi"
    mount = mounted(plan, "/dev/hugepages")
    assert (mount.source, mount.read_only) == ({"emptyDir": {"medium": "HugePages-1Gi"}}, False)


def test_memory_that_may_be_locked_is_said_to_need_a_privileged_namespace() -> None:
    plan = planned(**HUB, **L4, spec__pod__lockMemory=True)
    assert plan.pod.container_security["capabilities"] == {"drop": ["ALL"], "add": ["IPC_LOCK"]}
    assert plan.pod.container_security["allowPrivilegeEscalation"] is False
    assert plan.pod_security == "privileged"
    (note,) = (note for note in plan.notes if "IPC_LOCK" in note)
    assert "pod-security.kubernetes.io/enforce: privileged" in note
    assert "user 65532 is not root" in note


def test_root_has_the_capability_that_is_added() -> None:
    tgi: dict[str, Any] = {"spec__engine": "tgi", "spec__engineOptions": {"version": "3.3.5"}, **HUB}
    notes = [note for note in planned(**tgi, **L4, spec__pod__lockMemory=True).notes if "IPC_LOCK" in note]
    assert len(notes) == 1
    assert "not root" not in notes[0]


def test_without_it_nothing_is_added() -> None:
    assert planned(**HUB, **L4).pod.container_security["capabilities"] == {"drop": ["ALL"]}


def test_volumes_are_read_only() -> None:
    volumes = [
        {"path": "/data/prompts", "configMap": {"name": "prompts"}},
        {"path": "/data/lora", "claim": {"name": "lora", "subPath": "team/a"}},
    ]
    plan = planned(**HUB, **L4, spec__pod__mounts=volumes)
    prompts, lora = mounted(plan, "/data/prompts"), mounted(plan, "/data/lora")
    assert (prompts.source, prompts.read_only) == ({"configMap": {"name": "prompts"}}, True)
    assert (lora.sub_path, lora.read_only) == ("team/a", True)
    assert lora.source == {"persistentVolumeClaim": {"claimName": "lora", "readOnly": True}}
    assert len({mount.name for mount in plan.pod.mounts}) == len(plan.pod.mounts)


@pytest.mark.parametrize(("claim", "volumes"), [("models", 1), ("other", 2)])
def test_a_claim_is_one_volume_however_often_it_is_mounted(claim: str, volumes: int) -> None:
    folders = [{"path": f"/data/{name}", "claim": {"name": claim, "subPath": name}} for name in ("a", "b")]
    pod = rendered("Deployment", **ON_CLAIM, spec__pod__mounts=folders)["spec"]["template"]["spec"]
    claims = [volume for volume in pod["volumes"] if "persistentVolumeClaim" in volume]
    assert len(claims) == volumes
    paths = {mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"] if mount.get("readOnly")}
    assert {"/models", "/data/a", "/data/b"} <= paths


def test_a_variable_may_be_a_field_of_the_pod() -> None:
    variable = {"name": "VLLM_HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    environment = planned(**HUB, **L4, spec__engineOptions__env=[variable]).container.environment
    assert environment[-1] == variable
