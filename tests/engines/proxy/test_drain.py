"""A replica behind the proxy leaves: no stream is cut, whoever reads it and however slowly."""

import socket

import pytest

from tests.engines.proxy.clients import Clients
from tests.streams.audience import Audience
from tests.streams.stream import Ending

pytestmark = [pytest.mark.engines, pytest.mark.cluster, pytest.mark.sandbox]


@pytest.mark.parametrize("pace", [0.0, 0.02], ids=["quick readers", "slow readers"])
def test_no_stream_is_cut_when_pods_are_deleted_and_a_change_is_rolled_out(clients: Clients, pace: float) -> None:
    clients.serve(replicas=2, maxNumSeqs=8)
    kube = clients.kube
    with Audience(address=clients.address, held=12, tokens=280, key="sk-alpha-1", pace=pace) as audience:
        kube.wait(lambda: audience.in_flight() >= 8 or None, audience.told)
        one = min(pods(clients))
        kube.kubectl("delete", "pod", one, "--wait=false")
        kube.wait(lambda: None if one in pods(clients) else True, audience.told, seconds=240)
        kube.wait_ready("chat", seconds=240)
        before = pods(clients)
        kube.patch("LLMService", "chat", {"spec": {"maxModelLen": 768}})
        kube.wait(lambda: None if before & pods(clients) else True, audience.told, seconds=400)
        kube.wait_ready("chat", seconds=240)
    told = audience.told()
    print(told)  # noqa: T201  (the streams of a test worth reading)
    assert set(told["endings"]) == {Ending.COMPLETE.value}, told


def test_a_client_that_opens_a_thousand_connections_harms_neither_pod_nor_others(clients: Clients) -> None:
    clients.serve()
    host = clients.address.removeprefix("http://")
    opened = [socket.create_connection((host, 80), timeout=10) for _ in range(1000)]
    try:
        for _ in range(20):
            assert clients.status("sk-alpha-1") == 200
    finally:
        for each in opened:
            each.close()
    statuses = [
        each
        for pod in clients.kube.list("Pod")
        for each in (*pod["status"]["containerStatuses"], *pod["status"]["initContainerStatuses"])
    ]
    assert {(each["name"], each["restartCount"], each["ready"]) for each in statuses} == {
        ("engine", 0, True),
        ("proxy", 0, True),
    }


def pods(clients: Clients) -> set[str]:
    """The names of all pods there are."""
    return {pod["metadata"]["name"] for pod in clients.kube.list("Pod")}
