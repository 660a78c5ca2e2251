"""The twelve replica transitions on the real API server: none lowers live replicas but to a new bound.

"autoscaled" is played by its field manager (server-side apply on `/scale`), "external" by kubectl on the Deployment.
The pods fit no node: only what is asked for matters here.
"""

from collections.abc import Callable

import pytest

from llmservice.objects.names import AUTOSCALER, BEFORE_SUSPEND_ANNOTATION
from tests.cluster.kube import Kube
from tests.cluster.services import a_tiny_service

pytestmark = pytest.mark.cluster

NOWHERE = {"nodeSelector": {"llmservice.dev/nowhere": "yes"}}


def live(kube: Kube) -> int:
    """What the Deployment asks for."""
    deployment = kube.get("Deployment", "chat")
    assert deployment is not None
    return int(deployment["spec"]["replicas"])


def settle(kube: Kube) -> None:
    """Until the operator has acted on the current generation."""

    def acted() -> bool | None:
        body = kube.get("LLMService", "chat")
        return True if body and body["status"]["observedGeneration"] == body["metadata"]["generation"] else None

    kube.wait(acted, lambda: kube.get("LLMService", "chat"))


def edit(kube: Kube, **fields: object) -> None:
    """Set or (None) remove fields of the spec."""
    kube.patch("LLMService", "chat", {"spec": fields})
    settle(kube)


def be_fixed(kube: Kube) -> None:
    edit(kube, replicas=4, suspend=False)


def be_autoscaled(kube: Kube) -> None:
    edit(kube, replicas=None, suspend=False)
    scale = {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "chat"},
        "spec": {"replicas": max(4, live(kube))},
    }
    kube.patch("Deployment", "chat", scale, manager=AUTOSCALER, how="apply", sub="scale")


def be_external(kube: Kube) -> None:
    edit(kube, replicas=None, suspend=False)
    kube.kubectl("scale", "deployment", "chat", f"--replicas={max(4, live(kube))}")


def be_suspended(kube: Kube) -> None:
    edit(kube, suspend=True)


STATES: dict[str, Callable[[Kube], None]] = {
    "fixed": be_fixed,
    "autoscaled": be_autoscaled,
    "external": be_external,
    "suspended": be_suspended,
}


@pytest.mark.parametrize(
    ("before", "after"), [(before, after) for before in STATES for after in STATES if before != after]
)
def test_no_transition_lowers_replicas(kube: Kube, before: str, after: str) -> None:
    kube.create(a_tiny_service(replicas=4, pod=NOWHERE))
    settle(kube)
    STATES[before](kube)
    STATES[after](kube)
    edit(kube, maxNumSeqs=3)
    assert live(kube) == (0 if after == "suspended" else 4)
    deployment = kube.get("Deployment", "chat")
    assert deployment is not None
    assert (BEFORE_SUSPEND_ANNOTATION in deployment["metadata"]["annotations"]) == (after == "suspended")


def test_an_edit_of_a_fixed_number_on_the_deployment_is_taken_back(kube: Kube) -> None:
    kube.create(a_tiny_service(replicas=2, pod=NOWHERE))
    settle(kube)
    kube.kubectl("scale", "deployment", "chat", "--replicas=5")
    kube.wait(lambda: True if live(kube) == 2 else None, lambda: live(kube))


def test_a_scaler_on_the_resource_is_mapped_down(kube: Kube) -> None:
    kube.create(a_tiny_service(replicas=1, pod=NOWHERE))
    settle(kube)
    kube.kubectl("scale", "llm", "chat", "--replicas=3")
    kube.wait(lambda: True if live(kube) == 3 else None, lambda: live(kube))
