"""Two routes with the same hostname and path: the Gateway API decides for the older one."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.route_shadows import shadow_over
from llmservice.objects.references import Manifest
from tests.unit.converging.routes import GATEWAY, OTHER, a_route

HOST = {"hostnames": ["a.example.com", "b.example.com"]}


def another(*parents: dict[str, Any], name: str = "older", namespace: str = "ml", **changes: Any) -> Manifest:
    """The route of another service, older by default."""
    route = a_route(*parents, **{"age": 100.0, "hostnames": ["a.example.com"], **changes})
    return {**route, "metadata": {**route["metadata"], "name": name, "namespace": namespace}}


def test_the_newer_one_is_told_who_gets_its_requests() -> None:
    found = shadow_over(a_route(**HOST), [another()])
    assert found
    assert (found.reason, found.status) == (Reason.ROUTE_SHADOWED, False)
    assert "older" in found.message


def test_the_older_one_is_not() -> None:
    assert shadow_over(a_route(age=200.0, **HOST), [another()]) is None


def test_the_name_of_another_tenants_service_is_not_told() -> None:
    found = shadow_over(a_route(**HOST), [another(name="secret-project", namespace="theirs")])
    assert found
    assert "secret-project" not in found.message
    assert "theirs" not in found.message


@pytest.mark.parametrize(
    "other",
    [
        another(hostnames=["c.example.com"]),
        another(hostnames=[]),
        another(path="/llama"),
        another(OTHER),
        another({**GATEWAY, "sectionName": "http"}),
    ],
    ids=["another hostname", "every hostname", "another path", "another Gateway", "another listener"],
)
def test_what_does_not_meet_does_not_matter(other: Manifest) -> None:
    assert shadow_over(a_route(**HOST), [other]) is None


def test_one_that_goes_does_not_matter() -> None:
    going = another()
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert shadow_over(a_route(**HOST), [going]) is None


def test_a_route_does_not_shadow_itself() -> None:
    route = a_route(**HOST)
    assert shadow_over(route, [route]) is None
