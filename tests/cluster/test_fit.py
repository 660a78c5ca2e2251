"""A model that cannot fit takes no GPU: no pod is made, and the condition says what to change."""

import time
from typing import Any

import pytest

from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service

pytestmark = pytest.mark.cluster

_TOO_LARGE = {"layers": 80, "fileBytes": 140 * 2**30, "dtype": "bfloat16"}
_LONGER_THAN_A_PASS_SECONDS = 2


def _service(**gpu: Any) -> Body:
    model = {"uri": "hf://acme/huge", "facts": _TOO_LARGE}
    return a_tiny_service(engine="vllm", model=model, gpu={"type": "T4", **gpu})


def test_what_cannot_fit_makes_no_pod_until_it_may(kube: Kube) -> None:
    kube.create(_service())
    message = kube.wait_reason("chat", "DoesNotFit")["message"]
    assert "140.0 GiB" in message
    assert kube.condition("chat", "Fits")["status"] == "False"
    assert kube.condition("chat", "Stalled")["reason"] == "DoesNotFit"
    time.sleep(_LONGER_THAN_A_PASS_SECONDS)
    assert (kube.list("Deployment"), kube.list("Pod")) == ([], [])

    kube.patch("LLMService", "chat", {"spec": {"fit": "Warn"}})
    kube.wait(lambda: kube.get("Deployment", "chat"), lambda: kube.condition("chat", "Ready"))
    assert kube.condition("chat", "Fits")["reason"] == "DoesNotFit"


def test_the_first_alternative_that_fits_is_taken(kube: Kube) -> None:
    kube.create(_service(alternatives=[{"type": "L4"}, {"type": "H100", "count": 4}]))
    deployment = kube.wait(lambda: kube.get("Deployment", "chat"), lambda: kube.condition("chat", "Ready"))
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "4"
    plan = kube.wait(
        lambda: ((kube.get("LLMService", "chat") or {}).get("status") or {}).get("plan"), lambda: "no plan"
    )
    assert plan["accelerator"] == "H100"
    assert [note.split()[0] for note in plan["notes"][:2]] == ["T4", "L4"]
