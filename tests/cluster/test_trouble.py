"""Failures on a real cluster: each has its reason and remedy, and recovers if it can."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox import Sandbox
from tests.cluster.engine_process import engine_stopped
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_process import Operator
from tests.cluster.services import a_tiny_service, ask, event_reasons, on_gpu

pytestmark = pytest.mark.cluster

_RUNTIME_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"


@pytest.mark.sandbox
def test_a_missing_claim_is_named_and_heals_when_it_appears(kube: Kube, box: Sandbox) -> None:
    kube.create(a_tiny_service())
    missing = kube.wait_reason("chat", "ClaimNotFound")
    assert "PersistentVolumeClaim models " in missing["message"]
    assert kube.condition("chat", "Reconciling")["status"] == "True"
    assert kube.condition("chat", "Stalled") == {}
    box.model_volume(kube.namespace, "models")
    kube.wait_ready("chat")


@pytest.mark.usefixtures("models")
def test_a_missing_secret_is_named_and_heals_when_it_appears(kube: Kube) -> None:
    env = [{"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "words", "key": "first"}}}]
    kube.create(a_tiny_service(engineOptions={"env": env}))
    assert "Secret words " in kube.wait_reason("chat", "SecretNotFound")["message"]
    kube.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "words"}, "stringData": {"first": "hi"}})
    kube.wait_ready("chat")


@pytest.mark.usefixtures("models")
def test_a_missing_config_map_behind_a_file_is_named(kube: Kube) -> None:
    files = [{"path": "/etc/chat/template.jinja", "configMapKeyRef": {"name": "templates", "key": "chat"}}]
    kube.create(a_tiny_service(engineOptions={"files": files}))
    assert "ConfigMap templates " in kube.wait_reason("chat", "ConfigMapNotFound")["message"]


@pytest.mark.usefixtures("models")
def test_an_image_that_cannot_be_pulled_is_named(kube: Kube) -> None:
    image = "ghcr.io/ggml-org/llama.cpp:server-b1"
    body = a_tiny_service()
    version = catalogue_version(kube)
    body["spec"]["engineOptions"] = {"image": image, "version": version}
    kube.create(body)
    assert image in kube.wait_reason("chat", "ImagePullFailed")["message"]


def catalogue_version(kube: Kube) -> str:
    """The default llama.cpp version, as a plan tells it."""
    kube.create(a_tiny_service("probe", suspend=True))
    version: str = kube.wait_ready("probe", reason="Suspended")["status"]["plan"]["engineVersion"]
    return version


@pytest.mark.sandbox
@pytest.mark.usefixtures("models")
def test_more_gpus_than_any_node_has_is_named_with_the_way_out(kube: Kube) -> None:
    kube.create(on_gpu(count=8))
    message = kube.wait_reason("chat", "InsufficientAccelerators")["message"]
    assert "8 × nvidia.com/gpu" in message
    assert "spec.gpu.count" in message


@pytest.mark.sandbox
@pytest.mark.usefixtures("models")
@pytest.mark.slow
def test_a_pod_that_waited_for_a_gpu_tells_of_that_alone(kube: Kube) -> None:
    kube.create(on_gpu(count=4, name="first"))
    kube.wait_ready("first")
    kube.create(on_gpu())
    kube.wait_reason("chat", "InsufficientAccelerators")
    kube.delete("LLMService", "first")
    kube.wait_ready("chat")
    kube.wait(lambda: "Ready" in event_reasons(kube), lambda: event_reasons(kube))
    assert event_reasons(kube) == ["InsufficientAccelerators", "Ready"]


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.usefixtures("models")
def test_a_runtime_that_the_node_does_not_have_is_named(kube: Kube) -> None:
    name = f"absent-{kube.namespace}"
    kind = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass"}
    kube.request("POST", _RUNTIME_CLASSES, {**kind, "metadata": {"name": name}, "handler": "absent"})
    try:
        pod = {**a_tiny_service()["spec"]["pod"], "runtimeClassName": name}
        kube.create(a_tiny_service(pod=pod))
        message = kube.wait_reason("chat", "PodSandboxFailed")["message"]
        assert 'no runtime for "absent" is configured' in message
        assert "spec.pod.runtimeClassName" in message
    finally:
        kube.request("DELETE", f"{_RUNTIME_CLASSES}/{name}")


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.usefixtures("models")
def test_an_engine_that_hangs_is_named_until_it_answers(kube: Kube) -> None:
    kube.create(a_tiny_service())
    kube.wait_ready("chat")
    (pod,) = kube.list("Pod")
    with engine_stopped(pod):
        kube.wait_reason("chat", "EngineUnresponsive", seconds=180)
    kube.wait_ready("chat")
    kube.wait(lambda: event_reasons(kube)[-1] == "Ready", lambda: event_reasons(kube))
    assert event_reasons(kube) == ["Ready", "EngineUnresponsive", "Ready"]


@pytest.mark.usefixtures("models")
def test_a_model_file_that_is_not_there_is_named(kube: Kube) -> None:
    kube.create(a_tiny_service(model={"uri": "pvc://models/absent.gguf"}))
    assert "absent.gguf" in kube.wait_reason("chat", "ModelNotFound", seconds=90)["message"]


@pytest.mark.usefixtures("models")
def test_pods_that_the_namespace_refuses_are_named(kube: Kube) -> None:
    quota = {"hard": {"pods": "0"}}
    kube.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"}, "spec": quota})
    kube.create(a_tiny_service())
    assert "quota" in kube.wait_reason("chat", "PodsRefused")["message"]


@pytest.mark.sandbox
def test_an_llmservice_named_kubernetes_harms_nothing_and_says_so(kube: Kube) -> None:
    default = kube.within("default")
    before = default.get("Service", "kubernetes")
    default.create(a_tiny_service("kubernetes"))
    try:
        conflict = default.wait_reason("kubernetes", "NameConflict")
        assert "Service kubernetes" in conflict["message"]
        assert default.condition("kubernetes", "Stalled")["status"] == "True"
        after = default.get("Service", "kubernetes")
        assert before is not None
        assert after is not None
        assert (after["spec"], after["metadata"]["resourceVersion"]) == (
            before["spec"],
            before["metadata"]["resourceVersion"],
        )
        assert default.get("Deployment", "kubernetes") is None
    finally:
        default.delete("LLMService", "kubernetes")


@pytest.mark.usefixtures("models")
def test_a_wrong_edit_is_named_and_what_runs_goes_on_serving(kube: Kube) -> None:
    kube.create(a_tiny_service())
    kube.wait_ready("chat")
    kube.patch("LLMService", "chat", {"spec": {"engineOptions": {"args": ["--ctx_size=99"]}}})
    stalled = kube.wait_reason("chat", "OwnedArgument")
    assert "spec.engineOptions.args[0]" in stalled["message"]
    assert "spec.maxModelLen" in stalled["message"]
    assert kube.condition("chat", "Stalled")["status"] == "True"
    assert kube.condition("chat", "Available")["status"] == "True"
    assert ask(kube)["usage"]["completion_tokens"] > 0
    kube.patch("LLMService", "chat", {"spec": {"engineOptions": None}})
    kube.wait_ready("chat")
    assert kube.condition("chat", "Stalled") == {}


@pytest.mark.usefixtures("models")
def test_a_taken_name_heals_when_it_is_free(kube: Kube) -> None:
    ports = {"ports": [{"port": 1234}]}
    kube.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "chat"}, "spec": ports})
    kube.create(a_tiny_service())
    kube.wait_reason("chat", "NameConflict")
    foreign = kube.get("Service", "chat")
    assert foreign is not None
    assert "ownerReferences" not in foreign["metadata"]
    kube.delete("Service", "chat")
    kube.patch("LLMService", "chat", {"spec": {"maxNumSeqs": 1}})
    kube.wait_ready("chat")


@pytest.mark.usefixtures("models")
def test_a_deleted_and_recreated_resource_gets_children_of_its_own(kube: Kube) -> None:
    first = kube.create(a_tiny_service())
    kube.wait_ready("chat")
    kube.delete("LLMService", "chat")
    second = kube.create(a_tiny_service())
    assert first["metadata"]["uid"] != second["metadata"]["uid"]

    def owner() -> str | None:
        live: Body | None = kube.get("Deployment", "chat")
        uid = live["metadata"]["ownerReferences"][0]["uid"] if live else None
        return uid if uid == second["metadata"]["uid"] else None

    assert kube.wait(owner, lambda: kube.get("Deployment", "chat"))
    kube.wait_ready("chat")


@pytest.mark.usefixtures("models")
def test_deleting_with_the_operator_stopped_removes_everything(kube: Kube, operator: Operator) -> None:
    kube.create(a_tiny_service(replicas=2))
    kube.wait_ready("chat")
    operator.stop()
    try:
        kube.delete("LLMService", "chat")
        kinds = ("Deployment", "Service", "PodDisruptionBudget", "Pod")

        def left() -> dict[str, int]:
            return {kind: len(kube.list(kind)) for kind in kinds}

        kube.wait(lambda: True if not any(left().values()) else None, lambda: json.dumps(left()), seconds=60)
    finally:
        operator.start()


@pytest.mark.usefixtures("models")
def test_a_running_request_is_answered_although_its_pod_is_deleted(kube: Kube) -> None:
    kube.create(a_tiny_service(maxModelLen=4096, maxNumSeqs=1))
    kube.wait_ready("chat")
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(ask, kube, max_tokens=3500, seconds=120)
        time.sleep(0.5)
        kube.delete("Pod", kube.list("Pod")[0]["metadata"]["name"])
        assert answer.result()["usage"]["completion_tokens"] > 0
