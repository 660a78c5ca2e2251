"""The main job: an LLMService becomes a served model, and stays one."""

import time
from collections.abc import Callable

import pytest

from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service, ask, event_reasons, on_gpu

pytestmark = pytest.mark.cluster


@pytest.mark.usefixtures("models")
def test_an_llmservice_answers_through_its_service_in_a_restricted_namespace(kube: Kube) -> None:
    kube.create(a_tiny_service())
    body = kube.wait_ready("chat")
    answer = ask(kube)
    assert answer["model"] == "chat"
    assert answer["usage"]["completion_tokens"] > 0
    assert body["status"]["url"] == f"http://chat.{kube.namespace}.svc/v1"
    assert body["status"]["replicaSummary"] == "1/1"
    assert kube.condition("chat", "Available")["status"] == "True"
    assert [item["type"] for item in body["status"]["conditions"]] == ["Ready", "Available"]


@pytest.mark.usefixtures("models")
def test_kubectl_get_shows_what_people_look_for(kube: Kube) -> None:
    kube.create(a_tiny_service())
    kube.wait_ready("chat")
    header, row = kube.kubectl("get", "llm").splitlines()
    assert header.split() == ["NAME", "READY", "REASON", "REPLICAS", "ENGINE", "MODEL", "PROGRESS", "AGE"]
    assert row.split()[:6] == ["chat", "True", "Ready", "1/1", "llamacpp", "pvc://models/tiny.gguf"]


@pytest.mark.usefixtures("models")
def test_kubectl_scale_works_on_the_resource(kube: Kube) -> None:
    kube.create(a_tiny_service(replicas=1))
    kube.wait_ready("chat")
    kube.kubectl("scale", "llm", "chat", "--replicas=3")
    assert kube.wait_ready("chat")["status"]["replicaSummary"] == "3/3"


@pytest.mark.sandbox
@pytest.mark.usefixtures("models")
@pytest.mark.slow
def test_an_edit_finishes_where_the_only_gpus_are_taken(kube: Kube) -> None:
    """Replace: the old pod gives its GPUs back before the new one asks for them."""
    kube.create(on_gpu(count=4))
    first = kube.wait_ready("chat")
    kube.patch("LLMService", "chat", {"spec": {"maxNumSeqs": 3}})
    second = kube.wait_ready("chat")
    assert "--parallel=2" in " ".join(first["status"]["plan"]["args"]).replace("--parallel 2", "--parallel=2")
    assert "--parallel=3" in " ".join(second["status"]["plan"]["args"]).replace("--parallel 3", "--parallel=3")
    assert ask(kube)["usage"]["completion_tokens"] > 0


@pytest.mark.usefixtures("models")
def test_suspend_removes_the_pods_and_resume_brings_as_many_back(kube: Kube) -> None:
    kube.create(a_tiny_service(replicas=2))
    kube.wait_ready("chat")
    kube.patch("LLMService", "chat", {"spec": {"suspend": True}})
    kube.wait_ready("chat", reason="Suspended")
    assert kube.condition("chat", "Available")["status"] == "False"
    assert kube.list("Pod") == []
    kube.patch("LLMService", "chat", {"spec": {"suspend": False}})
    assert kube.wait_ready("chat")["status"]["replicaSummary"] == "2/2"


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("kind", ["Deployment", "Service", "PodDisruptionBudget"])
def test_a_deleted_child_comes_back(kube: Kube, kind: str) -> None:
    kube.create(a_tiny_service(replicas=2))
    kube.wait_ready("chat")
    before = kube.get(kind, "chat")
    assert before is not None
    kube.delete(kind, "chat")

    def is_back() -> Body | None:
        now = kube.get(kind, "chat")
        return now if now and now["metadata"]["uid"] != before["metadata"]["uid"] else None

    assert kube.wait(is_back, lambda: kube.get(kind, "chat"))


@pytest.mark.usefixtures("models")
def test_foreign_annotations_survive_and_our_fields_come_back(kube: Kube) -> None:
    kube.create(a_tiny_service())
    kube.wait_ready("chat")
    change = {"metadata": {"annotations": {"team": "search"}}, "spec": {"ports": [{"port": 9999, "name": "http"}]}}
    kube.patch("Service", "chat", change)

    def is_repaired() -> Body | None:
        live = kube.get("Service", "chat")
        return live if live and [port["port"] for port in live["spec"]["ports"]] == [80] else None

    repaired = kube.wait(is_repaired, lambda: kube.get("Service", "chat"))
    assert repaired["metadata"]["annotations"]["team"] == "search"


@pytest.mark.usefixtures("models")
def test_a_second_look_at_the_same_state_writes_nothing(kube: Kube) -> None:
    kube.create(a_tiny_service(replicas=2))
    kube.wait_ready("chat")
    refs = [("LLMService", "chat"), ("Deployment", "chat"), ("Service", "chat"), ("PodDisruptionBudget", "chat")]

    def versions() -> list[str]:
        return [(kube.get(*ref) or {})["metadata"]["resourceVersion"] for ref in refs]

    kube.wait(lambda: _settled(versions), versions)
    before = versions()
    kube.patch("LLMService", "chat", {"metadata": {"annotations": {"look": "again"}}})
    kube.patch("Pod", kube.list("Pod")[0]["metadata"]["name"], {"metadata": {"annotations": {"look": "again"}}})
    assert _settled(versions)
    assert versions()[1:] == before[1:]
    managers = [entry["manager"] for entry in (kube.get("LLMService", "chat") or {})["metadata"]["managedFields"]]
    assert managers.count("llmservice-operator") == 1


def _settled(versions: Callable[[], list[str]]) -> bool | None:
    """Whether nothing changes for a second and a half."""
    before = versions()
    time.sleep(1.5)
    return True if versions() == before else None


@pytest.mark.usefixtures("models")
def test_events_tell_transitions_only(kube: Kube) -> None:
    kube.create(a_tiny_service())
    kube.wait_ready("chat")
    kube.patch("LLMService", "chat", {"spec": {"suspend": True}})
    kube.wait_ready("chat", reason="Suspended")

    kube.wait(lambda: "Suspended" in event_reasons(kube), lambda: event_reasons(kube))
    assert event_reasons(kube) == ["Ready", "Suspended"]
