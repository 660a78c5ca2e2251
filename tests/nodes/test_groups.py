"""Replicas on several nodes: ready, repaired, scaled, rolled out and drained as one."""

import threading
from collections.abc import Iterator

import pytest

from tests.cluster.kube import Body, Kube
from tests.cluster.services import ask
from tests.nodes.played import a_group

pytestmark = [pytest.mark.nodes, pytest.mark.sandbox]

_NAME, _WORKER = "llmservice.dev/name", "leaderworkerset.sigs.k8s.io/worker-index"


@pytest.fixture
def chat(kube: Kube, groups: None) -> Iterator[Kube]:  # noqa: ARG001  (they are made by it)
    """One replica of two pods that serves."""
    kube.create(a_group())
    kube.wait_ready("chat")
    yield kube
    kube.delete("LLMService", "chat")


def test_a_group_is_ready_as_one_and_its_leader_answers(chat: Kube) -> None:
    assert sorted(pods(chat)) == ["chat-0", "chat-0-1"]
    assert answered_by(chat) == "chat-0"
    status = status_of(chat)
    assert (status["plan"]["devices"], status["plan"]["nodes"], status["readyReplicas"]) == (2, 2, 1)
    assert endpoints(chat) == {"chat-0"}
    workload = chat.get("LeaderWorkerSet", "chat")
    assert workload is not None
    assert workload["metadata"]["ownerReferences"][0]["kind"] == "LLMService"
    assert chat.get("Deployment", "chat") is None


def test_a_lost_worker_makes_the_group_anew(chat: Kube) -> None:
    before = uids(chat)
    chat.delete("Pod", "chat-0-1", grace_seconds=0)
    chat.wait(lambda: not (uids(chat) & before) or None, lambda: pods(chat))
    chat.wait_ready("chat")
    assert len(pods(chat)) == 2
    assert answered_by(chat) == "chat-0"


def test_a_crash_of_a_worker_makes_the_group_anew(chat: Kube) -> None:
    before = uids(chat)
    chat.kubectl("exec", "chat-0-1", "-c", "engine", "--", "/bin/sh", "-c", "kill -9 -1", check=False)
    chat.wait(lambda: not (uids(chat) & before) or None, lambda: pods(chat))
    chat.wait_ready("chat")


def test_groups_are_scaled_by_the_spec_and_by_the_autoscaler(chat: Kube) -> None:
    chat.patch("LLMService", "chat", {"spec": {"replicas": 2}})
    chat.wait(lambda: ready(chat) == 2 or None, lambda: status_of(chat))
    assert len(pods(chat)) == 4
    assert endpoints(chat) == {"chat-0", "chat-1"}
    chat.patch("LLMService", "chat", {"spec": {"replicas": None, "autoscaling": {"minReplicas": 1, "maxReplicas": 1}}})
    chat.wait(lambda: len(pods(chat)) == 2 or None, lambda: pods(chat))
    entries = (chat.get("LeaderWorkerSet", "chat") or {})["metadata"]["managedFields"]
    owners = [each["manager"] for each in entries if "f:replicas" in each["fieldsV1"].get("f:spec", {})]
    assert owners == ["llmservice-autoscaler"]
    chat.wait_ready("chat")


def test_a_change_is_rolled_out_group_by_group_and_requests_are_finished(chat: Kube) -> None:
    chat.patch("LLMService", "chat", {"spec": {"replicas": 2, "rollout": {"strategy": "Surge"}}})
    chat.wait(lambda: ready(chat) == 2 or None, lambda: status_of(chat))
    before, answers = uids(chat), list[str]()
    asking = threading.Thread(target=lambda: answers.append(answered_by(chat, tokens=120)))
    asking.start()
    chat.patch("LLMService", "chat", {"spec": {"pod": {"annotations": {"team": "search"}}}})
    chat.wait(lambda: (not (uids(chat) & before) and len(pods(chat)) == 4) or None, lambda: pods(chat), seconds=240)
    chat.wait_ready("chat")
    asking.join()
    assert answers[0].startswith("chat-")
    assert {pod["metadata"]["annotations"]["team"] for pod in chat.list("Pod", f"{_NAME}=chat")} == {"search"}


def test_suspending_ends_all_of_a_group_and_resuming_brings_it_back(chat: Kube) -> None:
    chat.patch("LLMService", "chat", {"spec": {"suspend": True}})
    chat.wait(lambda: not pods(chat) or None, lambda: pods(chat))
    chat.wait_ready("chat", reason="Suspended")
    chat.patch("LLMService", "chat", {"spec": {"suspend": False}})
    chat.wait_ready("chat")


def test_from_several_nodes_to_one_waits_until_people_end_the_groups(chat: Kube) -> None:
    chat.patch("LLMService", "chat", {"spec": {"gpu": {"nodes": 1}}})
    chat.wait_reason("chat", "OtherWorkload")
    assert answered_by(chat) == "chat-0"
    chat.kubectl("delete", "leaderworkerset", "chat")
    chat.wait_ready("chat")
    chat.wait(lambda: not {"chat-0", "chat-0-1"} & {*pods(chat)} or None, lambda: pods(chat))


def test_a_group_without_room_says_which_pod_of_it_waits(kube: Kube, groups: None) -> None:  # noqa: ARG001
    kube.create(a_group(gpu={"type": "L4", "count": 64, "nodes": 2, "verify": False}))
    message = kube.wait_reason("chat", "InsufficientAccelerators")["message"]
    assert "of group 0 (chat-0" in message
    assert "64 ×" in message


def pods(kube: Kube) -> list[str]:
    return [pod["metadata"]["name"] for pod in kube.list("Pod", f"{_NAME}=chat")]


def uids(kube: Kube) -> set[str]:
    return {pod["metadata"]["uid"] for pod in kube.list("Pod", f"{_NAME}=chat")}


def status_of(kube: Kube) -> Body:
    status: Body = (kube.get("LLMService", "chat") or {}).get("status") or {}
    return status


def ready(kube: Kube) -> int:
    return int(status_of(kube).get("readyReplicas") or 0)


def endpoints(kube: Kube) -> set[str]:
    """The pods that the Service sends requests to."""
    slices = kube.list("EndpointSlice", "kubernetes.io/service-name=chat")
    return {each["targetRef"]["name"] for found in slices for each in found.get("endpoints") or ()}


def answered_by(kube: Kube, tokens: int = 1) -> str:
    """The pod that answered."""
    content: str = ask(kube, max_tokens=tokens)["choices"][0]["message"]["content"]
    return content
