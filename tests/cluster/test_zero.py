"""A service goes to sleep and comes back, on a real cluster with real activators. More of it: `make test-zero`."""

from collections.abc import Iterator

import pytest

from tests.cluster.kube import Kube
from tests.cluster.operator_process import Operator
from tests.cluster.services import ask
from tests.zero.conftest import activators
from tests.zero.service import a_sleeper, activators_in_path, await_sleep, starts

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

__all__ = ["activators"]


@pytest.fixture(scope="module")
def with_activators(operator: Operator, activators: Kube) -> Iterator[None]:  # noqa: ARG001  (they must run)
    """The operator, told of them."""
    with operator.told(LLMSERVICE_ACTIVATOR="on"):
        yield


def test_without_an_activator_zero_is_refused_with_the_way_out(kube: Kube) -> None:
    kube.create(a_sleeper())
    ready = kube.wait_reason("chat", "ActivatorMissing")
    assert (ready["status"], "spec.autoscaling.minReplicas" in ready["message"]) == ("False", True)
    assert kube.get("Deployment", "chat") is None


@pytest.mark.usefixtures("with_activators", "models")
def test_a_service_sleeps_and_the_first_request_wakes_it(kube: Kube) -> None:
    kube.create(a_sleeper())
    kube.wait_ready("chat")
    kube.wait(lambda: activators_in_path(kube) == 0 or None, lambda: kube.list("EndpointSlice"), 30)
    await_sleep(kube)
    assert activators_in_path(kube) == 2
    before = starts(kube)
    assert ask(kube, seconds=120)["usage"]["completion_tokens"] > 0
    assert starts(kube) == before + 1
    kube.wait(lambda: activators_in_path(kube) == 0 or None, lambda: kube.list("EndpointSlice"), 30)
