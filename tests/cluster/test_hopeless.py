"""A mistake that only an edit mends: a real engine crashes, and GitOps tools soon read that it failed."""

import time

import pytest

from tests.cluster.kstatus import KStatus, kstatus
from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.usefixtures("models")]


def live(kube: Kube) -> Body:
    body = kube.get("LLMService", "chat")
    assert body is not None
    return body


def test_a_rejected_argument_fails_after_a_few_crashes_and_an_edit_is_tried_at_once(kube: Kube) -> None:
    began = time.monotonic()
    kube.create(a_tiny_service(engineOptions={"args": ["--chat-template-file", "/absent.jinja"]}))
    kube.wait_reason("chat", "EngineArgumentRejected")
    assert kstatus(live(kube)) is KStatus.IN_PROGRESS
    kube.wait_reason("chat", "EngineArgumentRejected", kind="Stalled", seconds=180)
    (pod,) = kube.list("Pod")
    print(f"\nStalled {time.monotonic() - began:.0f} s after it was created")  # noqa: T201
    assert kstatus(live(kube)) is KStatus.FAILED
    assert pod["status"]["containerStatuses"][0]["restartCount"] >= 2
    kube.patch("LLMService", "chat", {"spec": {"engineOptions": None}})
    assert kstatus(live(kube)) is KStatus.IN_PROGRESS
    kube.wait(lambda: kstatus(live(kube)) is KStatus.CURRENT, lambda: live(kube))
