"""The activator as it is installed: its own Deployment of the operator's image, with its own rights, on a real cluster.

The sandbox enforces no NetworkPolicy: that nobody else reaches the control port is the network plugin's part, and not
tested.
"""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from sandbox import Sandbox
from tests.cluster.conftest import RESTRICTED
from tests.cluster.kube import Body, Kube, item_of
from tests.cluster.operator_image import IMAGE, ROOT, operator_archive
from tests.cluster.services import a_tiny_service, address_of, ask

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

SYSTEM, ACTIVATOR = "llmservice-system", "llmservice-activator"
OURS = f"app.kubernetes.io/name={ACTIVATOR}"
NAME = "sleepy"
SLICE = f"{NAME}-activator"
MAY_SLEEP = {"minReplicas": 0, "maxReplicas": 1, "idle": {"afterSeconds": 60}}


@pytest.fixture(scope="module")
def installed() -> Iterator[Kube]:
    """install.yaml on a fresh cluster, and a service that may sleep; a client in its namespace."""
    box = Sandbox.named("activators")
    box.down()
    box.up()
    try:
        assert box.load_image(operator_archive()) == [IMAGE]
        everywhere = Kube.connect(box.kubeconfig, box.kubectl)
        kube = everywhere.within("models")
        metadata = {"name": kube.namespace, "labels": RESTRICTED}
        kube.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        everywhere.kubectl("apply", "--server-side", "-f", str(ROOT / "manifests/install.yaml"))
        for name in ("llmservice-operator", ACTIVATOR):
            kube.within(SYSTEM).kubectl("rollout", "status", f"deployment/{name}", "--timeout=110s")
        box.model_volume(kube.namespace, "models")
        kube.create(a_tiny_service(NAME, autoscaling=MAY_SLEEP))
        kube.wait_ready(NAME)
        yield kube
    finally:
        box.down()


def activators(kube: Kube) -> dict[str, str]:
    """Name and address of each that is ready and not being stopped."""
    pods = [pod for pod in kube.within(SYSTEM).list("Pod", OURS) if "deletionTimestamp" not in pod["metadata"]]
    ready = (pod for pod in pods if any(each["ready"] for each in pod["status"].get("containerStatuses") or ()))
    return {pod["metadata"]["name"]: pod["status"]["podIP"] for pod in ready}


def endpoints(kube: Kube) -> list[str]:
    """The addresses in our slice."""
    found = kube.get("EndpointSlice", SLICE)
    return sorted(each["addresses"][0] for each in (found or {}).get("endpoints") or ())


def replicas(kube: Kube) -> int:
    deployment = kube.get("Deployment", NAME)
    assert deployment is not None
    return int(deployment["spec"]["replicas"])


def put_to_sleep(kube: Kube) -> None:
    """As its idle time does, and sooner: it sleeps, whoever set it to zero.

    Again where the operator woke it, because it had not heard yet that the last held request was answered.
    """

    def sleeps() -> bool:
        if replicas(kube) > 0:
            kube.kubectl("scale", "deployment", NAME, "--replicas=0")
        return is_asleep(kube)

    kube.wait(sleeps, lambda: [kube.get("LLMService", NAME), kube.get("EndpointSlice", SLICE)], 120)


def is_asleep(kube: Kube) -> bool:
    """Whether no pod is left, and both activators are its endpoints."""
    gone = replicas(kube) == 0 and not kube.list("Pod", f"llmservice.dev/name={NAME}")
    return gone and endpoints(kube) == sorted(activators(kube).values()) != []


def awake(kube: Kube) -> None:
    """Wait until nothing is in the way to its replica any more."""
    kube.wait(lambda: endpoints(kube) == [], lambda: kube.get("EndpointSlice", SLICE))
    assert replicas(kube) == 1


def held(address: str) -> int:
    """What an activator holds, as the operator reads it."""
    with urllib.request.urlopen(f"http://{address}:8082/held", timeout=5) as response:
        ports: dict[str, Body] = json.load(response)["ports"]
    return sum(int(counts["held"]) for counts in ports.values())


def asked(kube: Kube, times: int) -> list[Future[Body]]:
    """So many clients at once; their answers come later."""
    pool = ThreadPoolExecutor(times)
    found = [pool.submit(ask, kube, NAME, seconds=120) for _ in range(times)]
    pool.shutdown(wait=False)
    return found


def answered(futures: list[Future[Body]]) -> int:
    """How many got tokens; an error is raised."""
    return sum(future.result(timeout=150)["usage"]["completion_tokens"] > 0 for future in futures)


def test_both_are_ready_and_restart_never(installed: Kube) -> None:
    pods = installed.within(SYSTEM).list("Pod", OURS)
    assert [pod["spec"]["serviceAccountName"] for pod in pods] == [ACTIVATOR] * 2
    assert [pod["status"]["containerStatuses"][0]["restartCount"] for pod in pods] == [0, 0]


def test_its_account_reads_endpoint_slices_and_may_nothing_else(installed: Kube) -> None:
    account = f"--as=system:serviceaccount:{SYSTEM}:{ACTIVATOR}"
    for verb, kind, says in (
        *((verb, "endpointslices", "yes") for verb in ("list", "watch")),
        *((verb, "endpointslices", "no") for verb in ("create", "patch", "delete")),
        *(("get", kind, "no") for kind in ("pods", "services", "secrets", "configmaps", "llmservices")),
    ):
        told = installed.kubectl("auth", "can-i", verb, kind, account, check=False)
        assert told.splitlines()[-1].split()[0] == says, f"{verb} {kind}: {told}"


def test_a_busy_service_has_its_port_and_no_activator_in_its_way(installed: Kube) -> None:
    awake(installed)
    found = installed.get("EndpointSlice", SLICE)
    assert found is not None
    assert 20000 <= found["ports"][0]["port"] <= 29999
    assert ask(installed, NAME)["usage"]["completion_tokens"] > 0
    assert [held(address) for address in activators(installed).values()] == [0, 0]


def test_asleep_it_names_its_models_and_stays_asleep(installed: Kube) -> None:
    put_to_sleep(installed)
    with urllib.request.urlopen(f"{address_of(installed, NAME)}/v1/models", timeout=5) as response:  # noqa: S310
        assert [each["id"] for each in json.load(response)["data"]] == [NAME]
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{address_of(installed, NAME)}/v1/files", timeout=5)  # noqa: S310
    assert refused.value.code == 503
    assert json.load(refused.value)["error"]["code"] == "asleep"
    assert replicas(installed) == 0


def test_clients_wake_it_and_all_are_answered(installed: Kube) -> None:
    put_to_sleep(installed)
    assert answered(asked(installed, 20)) == 20
    awake(installed)


def disturbed(installed: Kube, disturb: Callable[[str], Any]) -> None:
    """Clients of a service that sleeps, and something that is done to an activator while it holds."""
    put_to_sleep(installed)
    before = activators(installed)
    clients = asked(installed, 20)
    holds = installed.wait(
        lambda: next((name for name, address in before.items() if held(address)), None), lambda: before, 30
    )
    done = threading.Thread(target=disturb, args=(holds,))
    done.start()
    assert answered(clients) == 20
    done.join()
    awake(installed)
    installed.wait(
        lambda: len(activators(installed)) == 2 and not {*before} <= {*activators(installed)},
        lambda: activators(installed),
        60,
    )


def test_an_activator_whose_node_is_drained_loses_none(installed: Kube) -> None:
    def drain(name: str) -> None:
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": SYSTEM}}
        installed.request("POST", item_of("Pod", SYSTEM, name, "eviction"), eviction)

    disturbed(installed, drain)


def test_a_rollout_of_the_activators_loses_none(installed: Kube) -> None:
    def roll_out(_: str) -> None:
        system = installed.within(SYSTEM)
        system.kubectl("rollout", "restart", f"deployment/{ACTIVATOR}")
        system.kubectl("rollout", "status", f"deployment/{ACTIVATOR}", "--timeout=110s")

    disturbed(installed, roll_out)


@pytest.mark.slow
def test_when_nobody_asks_it_sleeps_and_its_first_request_wakes_it(installed: Kube) -> None:
    """Put to sleep by the operator alone, which waits until the activators are its endpoints."""
    awake(installed)
    installed.wait(lambda: is_asleep(installed), lambda: installed.get("LLMService", NAME), 180)
    assert answered(asked(installed, 1)) == 1
    awake(installed)


def test_when_its_field_is_gone_so_is_its_slice(installed: Kube) -> None:
    installed.patch("LLMService", NAME, {"spec": {"autoscaling": {"minReplicas": 1, "idle": None}}})
    installed.wait(lambda: installed.get("EndpointSlice", SLICE) is None, lambda: installed.list("EndpointSlice"))
    assert ask(installed, NAME)["usage"]["completion_tokens"] > 0
