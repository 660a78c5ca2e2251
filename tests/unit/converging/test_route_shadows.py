"""Two routes with the same hostname and path: the Gateway API decides for the older one."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.route_shadows import shadow_over
from llmservice.objects.references import Manifest
from tests.unit.converging.routes import GATEWAY, OTHER, a_route, an_answer, answered

HOSTS = ["a.example.com", "b.example.com"]


def another(*parents: dict[str, Any], name: str = "older", namespace: str = "ml", **changes: Any) -> Manifest:
    """The route of another service, accepted, and older by default."""
    route = accepted(*parents, **{"age": 100.0, "hostnames": ["a.example.com"], **changes})
    return {**route, "metadata": {**route["metadata"], "name": name, "namespace": namespace}}


def accepted(*parents: dict[str, Any], **changes: Any) -> Manifest:
    """A route that every Gateway in it accepted."""
    route = a_route(*parents, **{"hostnames": HOSTS, **changes})
    return answered(route, *[an_answer(ref, Accepted=True) for ref in parents or (GATEWAY,)])


def test_the_newer_one_is_told_who_gets_its_requests() -> None:
    found = shadow_over(accepted(), [another()])
    assert found
    assert (found.reason, found.status) == (Reason.ROUTE_SHADOWED, False)
    assert "older" in found.message


def test_the_older_one_is_not() -> None:
    assert shadow_over(accepted(age=200.0), [another()]) is None


def test_the_name_of_another_tenants_service_is_not_told() -> None:
    found = shadow_over(accepted(), [another(name="secret-project", namespace="theirs")])
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
    assert shadow_over(accepted(), [other]) is None


def test_one_that_goes_does_not_matter() -> None:
    going = another()
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert shadow_over(accepted(), [going]) is None


def test_a_route_does_not_shadow_itself() -> None:
    route = accepted()
    assert shadow_over(route, [route]) is None


def test_one_that_no_gateway_accepted_does_not_matter() -> None:
    """Whoever is not admitted cannot have others told that they are shadowed."""
    waiting = {key: value for key, value in another().items() if key != "status"}
    assert shadow_over(accepted(), [waiting]) is None
