"""Real llama.cpp that loads for longer than its budget, on a real kubelet: told, rolled back, and never restarted."""

from collections.abc import Iterator

import pytest

from sandbox import Sandbox
from sandbox.tiny_model import tiny_model
from tests.cluster.kube import Body, Kube, condition_of
from tests.cluster.operator_process import Operator
from tests.cluster.services import a_tiny_service, ask, event_reasons
from tests.local_hub.local_hub import LocalHub, local_hub
from tests.local_hub.repository import Repository

# The host reaches the sandbox's pods, and they reach the hub on it.
pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

FILE = "tiny-Q4_0.gguf"
MODEL: Body = {"uri": "hf://tiny/open", "file": FILE}
SIZE = 4_000_000
BUDGET_SECONDS = 10
"""The least that can be asked for."""
LOAD_SECONDS = 4 * BUDGET_SECONDS


@pytest.fixture
def hub(box: Sandbox) -> Iterator[LocalHub]:
    """A hub from which the model comes in four times the budget."""
    model = Repository(files={FILE: tiny_model().ljust(SIZE, b"\0")})
    with local_hub({"tiny/open": model}, host=box.bridge_address) as running:
        running.bytes_per_second, running.redirects = SIZE / LOAD_SECONDS, False
        yield running


@pytest.fixture
def slow(operator: Operator, hub: LocalHub) -> Iterator[Operator]:
    """The operator, whose engines load from that hub; as it was afterwards."""
    with operator.told(LLMSERVICE_HF_ENDPOINT=hub.url):
        yield operator


def pods(kube: Kube) -> dict[str, Body]:
    """By UID."""
    return {pod["metadata"]["uid"]: pod for pod in kube.list("Pod", "llmservice.dev/name=chat")}


def restarts(pod: Body) -> int:
    return sum(each["restartCount"] for each in pod["status"]["containerStatuses"])


@pytest.mark.usefixtures("slow")
@pytest.mark.slow
def test_a_model_that_loads_longer_than_its_budget_is_told_and_starts_without_a_restart(kube: Kube) -> None:
    kube.create(a_tiny_service(model=MODEL, startup={"timeoutSeconds": BUDGET_SECONDS}))
    late = kube.wait_reason("chat", "StartupTimedOut")
    (uid,) = pods(kube)
    assert pods(kube)[uid]["metadata"]["name"] in late["message"]
    assert kube.condition("chat", "Stalled") == {}

    body = kube.wait_ready("chat")
    (pod,) = pods(kube).values()
    assert (pod["metadata"]["uid"], restarts(pod)) == (uid, 0)
    assert ask(kube)["choices"]
    assert event_reasons(kube) == ["StartupTimedOut", "Ready"]
    assert body["status"]["startup"]["last"]["totalSeconds"] >= LOAD_SECONDS
    print(f"\nready after {body['status']['startup']['last']['totalSeconds']} s with a budget of {BUDGET_SECONDS} s")  # noqa: T201

    kube.patch("LLMService", "chat", {"spec": {"startup": {"timeoutSeconds": 600}}})
    kube.wait_ready("chat")
    assert set(pods(kube)) == {uid}


@pytest.mark.slow
@pytest.mark.usefixtures("slow", "models")
def test_a_change_that_loads_longer_than_its_budget_is_rolled_back_and_a_longer_budget_brings_it(kube: Kube) -> None:
    kube.create(a_tiny_service(startup={"timeoutSeconds": BUDGET_SECONDS}))
    kube.wait_ready("chat")
    (served,) = pods(kube)
    kube.patch("LLMService", "chat", {"spec": {"model": MODEL}})
    body = kube.wait_ready("chat", reason="RolledBack")
    failed = body["status"]["rollout"]["failed"]
    assert (failed["reason"], condition_of(body, "Stalled")["reason"]) == ("StartupTimedOut", "StartupTimedOut")
    assert served in pods(kube)
    assert ask(kube)["choices"]

    kube.patch("LLMService", "chat", {"spec": {"startup": {"timeoutSeconds": 600}}})
    kube.wait_ready("chat")
    (new,) = [pod for pod in pods(kube).values() if "deletionTimestamp" not in pod["metadata"]]
    assert (new["metadata"]["uid"] != served, restarts(new)) == (True, 0)
