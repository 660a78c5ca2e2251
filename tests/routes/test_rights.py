"""The operator with the rights that are shipped, and the admission policy beside them: enough for routes and pools."""

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmservice.rendering.http_route import ROUTE_KINDS
from tests.cluster.conftest import namespace
from tests.cluster.kube import Kube
from tests.cluster.operator_process import Operator
from tests.cluster.service_account import kubeconfig_of
from tests.cluster.services import a_tiny_service
from tests.cluster.test_admission_policy import ACCOUNT, SYSTEM, admin

__all__ = ["admin"]

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.routes]

PARENT = {"parentRefs": [{"name": "shared"}]}
POOLED = {**PARENT, "inferencePool": {"endpointPickerRef": {"name": "picker"}}}


@pytest.fixture
def served(admin: Kube, tmp_path: Path) -> Iterator[Kube]:
    """A namespace that an operator serves with its own account."""
    kubeconfig, _ = kubeconfig_of(admin.within(SYSTEM), ACCOUNT, tmp_path)
    for within in namespace(admin):
        environment = {"KUBECONFIG": str(kubeconfig), "LLMSERVICE_NAMESPACES": within.namespace}
        with Operator(environment, tmp_path / "operator.log").running():
            yield within


def test_both_kinds_are_made_changed_and_removed(served: Kube) -> None:
    """Without replicas: a service of none has a route, too."""
    served.create(a_tiny_service(replicas=0, route=POOLED))
    for kind in ROUTE_KINDS:
        served.wait(functools.partial(served.get, kind, "chat"), lambda: served.get("LLMService", "chat"), 60)
    served.patch("LLMService", "chat", {"spec": {"route": {"path": "/llama"}}})
    served.wait(lambda: path_of(served) == "/llama/v1" or None, lambda: served.get("HTTPRoute", "chat"), 60)
    served.patch("LLMService", "chat", {"spec": {"route": None}})
    served.wait(lambda: not left(served) or None, lambda: left(served), 60)


def left(kube: Kube) -> list[str]:
    """The kinds that are still there."""
    return [kind for kind in ROUTE_KINDS if kube.get(kind, "chat")]


def path_of(kube: Kube) -> str:
    """What the route matches."""
    route = kube.get("HTTPRoute", "chat")
    return str(route["spec"]["rules"][0]["matches"][0]["path"]["value"]) if route else ""
