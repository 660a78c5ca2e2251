"""The route of a service: what a gateway is told."""

from typing import Any

import pytest

from llmservice.objects.references import Manifest
from llmservice.rendering.http_route import route_children
from tests.unit.planning.planned import planned

GATEWAY = {"name": "shared", "namespace": "infra"}
POOL = {"endpointPickerRef": {"name": "picker"}}


def children(**route: Any) -> dict[str, Manifest]:
    """By kind, what is rendered for `chat` with this route."""
    plan = planned(spec__route={"parentRefs": [GATEWAY], **route})
    return {each["kind"]: each for each in route_children(plan)}


def rule(**route: Any) -> Manifest:
    """The one rule of the route."""
    (found,) = children(**route)["HTTPRoute"]["spec"]["rules"]
    return dict(found)


def test_without_a_route_nothing_is_made() -> None:
    assert route_children(planned()) == ()


def test_it_belongs_to_the_service_and_leads_to_its_service_alone() -> None:
    made = children()["HTTPRoute"]
    (owner,) = made["metadata"]["ownerReferences"]
    assert (made["metadata"]["name"], made["metadata"]["namespace"], owner["kind"]) == ("chat", "ml", "LLMService")
    assert rule()["backendRefs"] == [{"group": "", "kind": "Service", "name": "chat", "port": 80, "weight": 1}]


def test_only_the_api_is_reached_and_the_engine_sees_the_path_it_knows() -> None:
    assert rule()["matches"] == [{"path": {"type": "PathPrefix", "value": "/v1"}}]
    assert "filters" not in rule()


@pytest.mark.parametrize(
    ("path", "expose", "matched", "replaced"),
    [("/llama", "Api", "/llama/v1", "/v1"), ("/llama", "All", "/llama", "/"), ("/", "All", "/", None)],
)
def test_a_path_is_what_clients_put_before(path: str, expose: str, matched: str, replaced: str | None) -> None:
    made = rule(path=path, expose=expose)
    assert made["matches"] == [{"path": {"type": "PathPrefix", "value": matched}}]
    rewrites = [each["urlRewrite"]["path"]["replacePrefixMatch"] for each in made.get("filters", ())]
    assert rewrites == ([replaced] if replaced else [])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, {"request": "0s"}),
        ({"request": "Default"}, None),
        ({"backendRequest": "5m"}, {"request": "0s", "backendRequest": "5m"}),
        ({"request": "Default", "backendRequest": "5m"}, {"backendRequest": "5m"}),
    ],
)
def test_a_stream_has_no_limit_unless_one_is_asked_for(asked: dict[str, str], said: dict[str, str] | None) -> None:
    assert rule(timeouts=asked).get("timeouts") == said


def test_a_parent_is_named_as_the_api_server_stores_it() -> None:
    parents = [{**GATEWAY, "sectionName": "https", "port": 443}, {"name": "own", "kind": "ListenerSet"}]
    group = "gateway.networking.k8s.io"
    assert children(parentRefs=parents)["HTTPRoute"]["spec"]["parentRefs"] == [
        {"group": group, "kind": "Gateway", **GATEWAY, "sectionName": "https", "port": 443},
        {"group": group, "kind": "ListenerSet", "name": "own"},
    ]


def test_an_inference_pool_is_the_pods_of_the_service_and_the_route_leads_to_it() -> None:
    made = children(inferencePool=POOL)
    assert list(made) == ["InferencePool", "HTTPRoute"]
    assert made["InferencePool"]["spec"] == {
        "selector": {"matchLabels": {"llmservice.dev/name": "chat"}},
        "targetPorts": [{"number": 8000}],
        "endpointPickerRef": {
            "group": "",
            "kind": "Service",
            "name": "picker",
            "port": {"number": 9002},
            "failureMode": "FailClose",
        },
    }
    (backend,) = rule(inferencePool=POOL)["backendRefs"]
    assert (backend["group"], backend["kind"], backend["name"]) == (
        "inference.networking.k8s.io",
        "InferencePool",
        "chat",
    )


def test_annotations_are_those_asked_for() -> None:
    assert children(annotations={"note": "any"})["HTTPRoute"]["metadata"]["annotations"] == {"note": "any"}
