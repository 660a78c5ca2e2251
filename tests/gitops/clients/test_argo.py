"""Argo CD's real engine and the health script of `gitops/`: waves, health and differences."""

import pytest

from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service
from tests.gitops.clients.argo import WAVE, Argo

pytestmark = [pytest.mark.cluster, pytest.mark.gitops, pytest.mark.sandbox]


def in_wave(number: int, service: Body) -> Body:
    service["metadata"]["annotations"] = {WAVE: str(number)}
    return service


def test_the_next_wave_waits_until_models_serve(argo: Argo, kube: Kube) -> None:
    argo.write(in_wave(0, a_tiny_service()), in_wave(1, a_tiny_service("second", suspend=True)))
    outcome = argo.sync()
    assert outcome.succeeded, outcome
    assert [each["name"] for each in outcome.synced] == ["chat", "second"]
    first, second = (kube.get("LLMService", name) for name in ("chat", "second"))
    assert first is not None
    assert second is not None
    ready = next(item for item in first["status"]["conditions"] if item["type"] == "Ready")
    assert ready["lastTransitionTime"] <= second["metadata"]["creationTimestamp"]


def test_a_parked_service_holds_up_no_later_wave(argo: Argo, kube: Kube) -> None:
    argo.write(in_wave(0, a_tiny_service(suspend=True)), in_wave(1, a_tiny_service("second", suspend=True)))
    outcome = argo.sync(seconds=30)
    assert outcome.succeeded, outcome
    assert outcome.objects["chat"]["health"] == "Healthy"
    assert "suspend" in outcome.objects["chat"]["message"]
    kube.wait_ready("second", reason="Suspended")


def test_a_wave_whose_model_cannot_load_yet_is_waited_for(argo: Argo) -> None:
    waiting = a_tiny_service(model={"uri": "pvc://later/tiny.gguf"})
    argo.write(in_wave(0, waiting), in_wave(1, a_tiny_service("second")))
    outcome = argo.sync(seconds=15)
    assert not outcome.succeeded
    assert outcome.objects["chat"]["health"] == "Progressing"
    assert outcome.objects["second"]["health"] == "Missing"


def test_a_mistake_ends_the_sync_as_degraded_and_the_fix_is_synced(argo: Argo, kube: Kube) -> None:
    argo.write(in_wave(0, a_tiny_service(engineOptions={"args": ["--chat-template-file", "/absent.jinja"]})))
    argo.sync(seconds=150)
    kube.wait(lambda: argo.compare().objects["chat"]["health"] == "Degraded", lambda: kube.get("LLMService", "chat"))
    assert "spec.engineOptions.args" in argo.compare().objects["chat"]["message"]
    argo.write(in_wave(0, a_tiny_service()), in_wave(1, a_tiny_service("second", suspend=True)))
    outcome = argo.sync()
    assert outcome.succeeded, outcome
    assert outcome.objects["chat"]["health"] == "Healthy"


def test_nothing_is_out_of_sync_while_replicas_change(argo: Argo, kube: Kube) -> None:
    argo.write(a_tiny_service(autoscaling={"minReplicas": 1, "maxReplicas": 3}))
    assert argo.sync().succeeded
    kube.wait_ready("chat")
    for replicas in (2, 3, 1):
        kube.kubectl("scale", "deployment/chat", f"--replicas={replicas}")
        compared = argo.compare().objects["chat"]
        assert (compared["outOfSync"], compared["health"]) in {(False, "Healthy"), (False, "Progressing")}
    kube.patch("LLMService", "chat", {"spec": {"maxNumSeqs": 7}})
    assert argo.compare().objects["chat"]["outOfSync"]


def test_what_git_no_longer_has_is_pruned(argo: Argo, kube: Kube) -> None:
    argo.write(a_tiny_service(suspend=True), a_tiny_service("second", suspend=True))
    assert argo.sync().succeeded
    argo.write(a_tiny_service(suspend=True))
    assert argo.sync().succeeded
    kube.wait(lambda: kube.get("LLMService", "second") is None, lambda: kube.list("LLMService"))
    assert kube.get("LLMService", "chat") is not None
