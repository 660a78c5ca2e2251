"""Who is let in: whom the resource names, the operator, and the monitoring that the administrator named."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.accelerator import Json
from llmservice.planning.network import MetricsReaders
from llmservice.planning.plan import plan_service
from tests.builders import an_llmservice
from tests.unit.planning.planned import facts_of, planned

NAME = "kubernetes.io/metadata.name"
OPERATOR_PODS = {
    "app.kubernetes.io/component": "operator",
    "app.kubernetes.io/name": "llmservice-operator",
    "app.kubernetes.io/part-of": "llmservice",
}


def admitted(readers: MetricsReaders, *peers: Json) -> tuple[Json, ...] | None:
    changes: dict[str, Any] = {"spec__networkPolicy": {"ingressFrom": list(peers)}}
    service = LLMService.parse(an_llmservice(**changes))
    return plan_service(service, facts_of(**changes), readers).admitted


def within(namespace: str) -> Json:
    return {"namespaceSelector": {"matchLabels": {NAME: namespace}}}


def test_without_the_field_there_is_no_policy() -> None:
    assert planned().admitted is None


def test_an_empty_list_lets_the_operators_pods_in_and_nobody_else() -> None:
    readers = MetricsReaders(operator="system")
    assert admitted(readers) == ({**within("system"), "podSelector": {"matchLabels": OPERATOR_PODS}},)


def test_monitoring_is_let_in_where_the_administrator_named_it() -> None:
    assert admitted(MetricsReaders(monitoring="prometheus"))[1:] == (within("prometheus"),)  # type: ignore[index]


@pytest.mark.parametrize(
    "peer",
    [
        {"podSelector": {"matchLabels": {"app": "web"}}},
        {"namespaceSelector": {}},
        {"namespaceSelector": {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}]},
         "podSelector": {}},
    ],
)  # fmt: skip
def test_a_peer_comes_first_and_as_it_was_written(peer: Json) -> None:
    assert (admitted(MetricsReaders(), peer) or ())[0] == peer
