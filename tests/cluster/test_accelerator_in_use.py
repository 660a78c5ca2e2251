"""A node with GPUs and an engine whose image has no support for them: not Ready, and why."""

import pytest

from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service, on_gpu

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]


@pytest.mark.usefixtures("models")
def test_an_engine_that_leaves_its_gpu_idle_is_not_ready_and_says_why(kube: Kube) -> None:
    kube.create(a_tiny_service(gpu={"type": "L4"}))
    message = kube.wait_reason("chat", "AcceleratorNotUsed")["message"]
    assert "spec.gpu.verify" in message
    assert kube.condition("chat", "AcceleratorInUse")["status"] == "False"
    assert kube.condition("chat", "Stalled")["reason"] == "AcceleratorNotUsed"
    assert kube.condition("chat", "Available")["status"] == "True"
    start = _status(kube)["start"]
    assert (start["backend"], start["requestTokens"], len(start["starts"])) == ("cpu", 512, 1)
    kube.patch("LLMService", "chat", {"spec": {"gpu": {"verify": False}}})
    kube.wait_ready("chat")


@pytest.mark.usefixtures("models")
def test_with_the_check_off_it_is_ready_and_the_condition_tells(kube: Kube) -> None:
    kube.create(on_gpu())
    kube.wait_ready("chat")
    kube.wait(
        lambda: kube.condition("chat", "AcceleratorInUse").get("status") == "False" or None,
        lambda: kube.condition("chat", "AcceleratorInUse"),
    )
    assert kube.condition("chat", "AcceleratorInUse")["reason"] == "AcceleratorNotUsed"


@pytest.mark.usefixtures("models")
def test_without_devices_there_is_nothing_to_tell(kube: Kube) -> None:
    kube.create(a_tiny_service())
    kube.wait_ready("chat")
    assert kube.condition("chat", "AcceleratorInUse") == {}
    assert "start" not in _status(kube)


def _status(kube: Kube) -> Body:
    status: Body = (kube.get("LLMService", "chat") or {})["status"]
    return status
