"""Keys on a real cluster: the Secret, the kubelet, HAProxy and llama.cpp as they are."""

import pytest

from tests.engines.proxy.clients import SECRET, Clients, a_service
from tests.streams.audience import Audience
from tests.streams.stream import Ending

pytestmark = [pytest.mark.engines, pytest.mark.cluster, pytest.mark.sandbox]


def test_keys_come_and_go_while_fifty_requests_run(clients: Clients) -> None:
    clients.serve(maxNumSeqs=8)
    assert [clients.status(key) for key in ("sk-alpha-1", "sk-beta-1", "sk-wrong", "")] == [200, 200, 401, 401]
    with Audience(address=clients.address, held=50, tokens=280, key="sk-alpha-1") as audience:
        clients.kube.wait(lambda: audience.in_flight() or None, audience.told)
        clients.write({"team-c": "sk-gamma-1", "team-b": None})
        clients.until("sk-gamma-1", 200)
        clients.until("sk-beta-1", 401)
    told = audience.told()
    print(told)  # noqa: T201  (the streams of a test worth reading)
    assert set(told["endings"]) == {Ending.COMPLETE.value}, told


def test_health_and_metrics_need_no_key_and_the_operator_reads_them(clients: Clients) -> None:
    clients.serve(autoscaling={"minReplicas": 1, "maxReplicas": 2})
    assert [clients.status(path=path) for path in ("/health", "/metrics", "/proxy/metrics")] == [200, 200, 200]
    assert "llamacpp:requests_processing" in clients.get(path="/metrics")[1]
    clients.kube.wait(
        lambda: True if clients.kube.condition("chat", "ScalingActive").get("status") == "True" else None,
        lambda: clients.kube.get("LLMService", "chat"),
        seconds=60,
    )


def test_neither_log_holds_a_key(clients: Clients) -> None:
    clients.serve()
    for key in ("sk-alpha-1", "sk-beta-1", "sk-wrong"):
        clients.status(key, path="/v1/nothing-here")
    (pod,) = (pod["metadata"]["name"] for pod in clients.kube.list("Pod"))
    for container in ("engine", "proxy"):
        log = clients.kube.kubectl("logs", pod, "-c", container)
        assert "sk-" not in log


def test_a_missing_secret_is_named_and_its_arrival_is_enough(clients: Clients) -> None:
    clients.kube.delete("Secret", SECRET)
    clients.kube.create(a_service())
    ready = clients.kube.wait_reason("chat", "SecretNotFound")
    assert SECRET in ready["message"]
    clients.write({"team-a": "sk-alpha-1"})
    clients.kube.wait_ready("chat", seconds=240)
    assert clients.status("sk-alpha-1") == 200


def test_without_an_entry_nobody_is_served_until_one_comes(clients: Clients) -> None:
    clients.write({"team-a": None, "team-b": None})
    clients.serve()
    assert clients.status("sk-alpha-1") == 401
    clients.write({"team-a": "sk-alpha-1"})
    clients.until("sk-alpha-1", 200)
