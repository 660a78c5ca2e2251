"""The NetworkPolicy of a service on a real API server: stored as rendered, repaired, deleted with its field.

The sandbox enforces no policy: that nobody else gets through is the network plugin's part, and not tested.
"""

import pytest

from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service, ask

pytestmark = pytest.mark.cluster

PEERS = [
    {"namespaceSelector": {}},
    {"podSelector": {"matchLabels": {}, "matchExpressions": [{"key": "a", "operator": "Exists", "values": []}]}},
    {"namespaceSelector": {"matchLabels": {"team": "search"}}, "podSelector": {}},
]
"""What the API server keeps, and what it drops because it is empty."""


def policy(kube: Kube) -> Body | None:
    return kube.get("NetworkPolicy", "chat")


def version(kube: Kube) -> str:
    return str((policy(kube) or {})["metadata"]["resourceVersion"])


@pytest.mark.usefixtures("models")
def test_a_policy_is_written_once_and_goes_with_its_field_while_the_service_serves(kube: Kube) -> None:
    kube.create(a_tiny_service(networkPolicy={"ingressFrom": PEERS}))
    kube.wait_ready("chat")
    before, pods = version(kube), [pod["metadata"]["uid"] for pod in kube.list("Pod")]
    kube.patch("LLMService", "chat", {"spec": {"replicas": 1}})
    kube.wait(lambda: observed(kube), lambda: kube.get("LLMService", "chat"))
    assert version(kube) == before
    kube.patch("LLMService", "chat", {"spec": {"networkPolicy": None}})
    kube.wait(lambda: policy(kube) is None, lambda: policy(kube))
    assert [pod["metadata"]["uid"] for pod in kube.list("Pod")] == pods
    assert ask(kube)["usage"]["completion_tokens"] > 0


@pytest.mark.usefixtures("models")
def test_a_policy_that_somebody_opened_or_deleted_is_back(kube: Kube) -> None:
    kube.create(a_tiny_service(networkPolicy={"ingressFrom": []}))
    kube.wait(lambda: policy(kube), lambda: kube.get("LLMService", "chat"))
    kube.patch("NetworkPolicy", "chat", {"spec": {"ingress": [{}]}})
    kube.wait(lambda: admits(kube, 1), lambda: policy(kube))
    kube.delete("NetworkPolicy", "chat")
    kube.wait(lambda: policy(kube) is not None and admits(kube, 1), lambda: policy(kube))


def observed(kube: Kube) -> bool:
    body = kube.get("LLMService", "chat") or {}
    return bool(body["status"]["observedGeneration"] == body["metadata"]["generation"])


def admits(kube: Kube, peers: int) -> bool:
    """Whether so many peers are let in by the one rule."""
    (rule,) = (policy(kube) or {})["spec"]["ingress"]
    return len(rule.get("from", ())) == peers
