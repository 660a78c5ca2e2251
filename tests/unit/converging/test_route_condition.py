"""RouteReady: what controllers answer, and how long nobody does."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.conditions import Condition
from llmservice.converging.route_absence import absence
from llmservice.converging.route_condition import route_condition, route_status, seconds_to_suspicion
from llmservice.objects.references import Manifest
from tests.unit.converging.routes import GATEWAY, NOW, OTHER, a_route, an_answer, answered
from tests.unit.planning.planned import planned

YES: dict[str, Any] = {"Accepted": True, "ResolvedRefs": True}


def judged(route: Manifest, before: dict[str, Any] | None = None, pool: Manifest | None = None) -> Condition:
    return route_condition(route, pool, before or {}, NOW)


def test_it_holds_when_every_gateway_accepts() -> None:
    condition = judged(answered(a_route(GATEWAY, OTHER), an_answer(**YES), an_answer(OTHER, **YES)))
    assert (condition.status, condition.reason) == (True, Reason.ROUTE_ACCEPTED)
    assert "infra/shared" in condition.message
    assert "ml/own" in condition.message


def test_one_that_has_not_answered_leaves_it_open() -> None:
    condition = judged(answered(a_route(GATEWAY, OTHER), an_answer(**YES)))
    assert (condition.status, condition.reason) == (None, Reason.ROUTE_PENDING)
    assert "infra/shared" not in condition.message


def test_a_parent_in_the_routes_own_namespace_may_be_named_with_it() -> None:
    assert judged(answered(a_route(OTHER), an_answer({**OTHER, "namespace": "ml"}, **YES))).status is True


def test_an_answer_about_an_earlier_generation_is_none() -> None:
    route = a_route()
    route["metadata"]["generation"] = 2
    assert judged(answered(route, an_answer(**YES))).reason == Reason.ROUTE_PENDING


def test_an_answer_that_names_no_generation_is_about_this_one() -> None:
    said = an_answer(**YES)
    for condition in said["conditions"]:
        del condition["observedGeneration"]
    assert judged(answered(a_route(), said)).status is True


def test_a_route_whose_parents_somebody_removed_is_no_defect() -> None:
    assert judged({**a_route(), "spec": {}}).reason == Reason.ROUTE_PENDING


def test_of_two_controllers_one_that_accepts_is_enough() -> None:
    refusing = an_answer(Accepted=("NoMatchingParent", ""))
    assert judged(answered(a_route(), refusing, an_answer(controller="b/c", **YES))).status is True


@pytest.mark.parametrize(
    ("said", "reason", "remedy"),
    [
        ({"Accepted": ("NotAllowedByListeners", "no")}, Reason.ROUTE_REFUSED, "allowedRoutes"),
        ({"Accepted": ("NoMatchingListenerHostname", "no")}, Reason.ROUTE_REFUSED, "spec.route.hostnames"),
        ({"Accepted": ("SomethingOfTheirs", "no")}, Reason.ROUTE_REFUSED, "SomethingOfTheirs"),
        ({"Accepted": True, "ResolvedRefs": ("InvalidKind", "no")}, Reason.ROUTE_BACKEND_UNRESOLVED, "inferencePool"),
    ],
)
def test_a_refusal_is_told_with_what_to_do(said: dict[str, Any], reason: Reason, remedy: str) -> None:
    condition = judged(answered(a_route(), an_answer(**said)))
    assert (condition.status, condition.reason) == (False, reason)
    assert remedy in condition.message
    assert "infra/shared" in condition.message


def test_a_controllers_words_are_cut_and_cleaned() -> None:
    condition = judged(answered(a_route(), an_answer(Accepted=("Bad", "\x1b[31mred\u202e" + "x" * 100_000))))
    assert "\x1b" not in condition.message
    assert "\u202e" not in condition.message
    assert len(condition.message) < 2000


def test_who_still_thinks_is_waited_for() -> None:
    assert judged(answered(a_route(), an_answer(Accepted=("Pending", "")))).reason == Reason.ROUTE_PENDING


@pytest.mark.parametrize(("age", "reason"), [(59.0, Reason.ROUTE_PENDING), (61.0, Reason.ROUTE_UNCLAIMED)])
def test_after_a_minute_a_silent_controller_is_suspected(age: float, reason: Reason) -> None:
    condition = judged(a_route(age=age))
    assert (condition.status, condition.reason) == (None, reason)


def test_after_an_edit_the_minute_begins_anew() -> None:
    """An old route is not suspected because its newest generation was not answered yet."""
    told = {"type": "RouteReady", "status": "True", "lastTransitionTime": "2025-01-01T00:00:00Z"}
    assert judged(a_route(age=10_000), {"conditions": [told]}).reason == Reason.ROUTE_PENDING
    waiting = {"type": "RouteReady", "status": "Unknown", "lastTransitionTime": "2025-12-31T23:58:00Z"}
    assert judged(a_route(age=10_000), {"conditions": [waiting]}).reason == Reason.ROUTE_UNCLAIMED


def test_it_is_looked_at_again_when_the_minute_is_over() -> None:
    route = a_route(age=20)
    assert seconds_to_suspicion(judged(route), route, {}, NOW) == 40
    late = a_route(age=90)
    assert seconds_to_suspicion(judged(late), late, {}, NOW) is None


def test_a_pool_that_is_refused_is_told() -> None:
    pool = {
        "metadata": {"generation": 1},
        "status": {"parents": [an_answer(ResolvedRefs=("InvalidExtensionRef", "no"))]},
    }
    condition = judged(answered(a_route(), an_answer(**YES)), pool=pool)
    assert condition.reason == Reason.ROUTE_BACKEND_UNRESOLVED
    assert "endpointPickerRef" in condition.message


def test_the_status_says_where_clients_reach_it() -> None:
    plan = planned(spec__route={"parentRefs": [GATEWAY, OTHER], "hostnames": ["a.example.com"], "path": "/llama"})
    assert plan.route
    route = answered(a_route(GATEWAY, OTHER), an_answer(**YES))
    assert route_status(plan.route, route) == {
        "addresses": ["a.example.com/llama/v1"],
        "gateways": ["Gateway infra/shared, listener https"],
    }
    assert route_status(plan.route, None) == {"addresses": ["a.example.com/llama/v1"]}


def test_an_absent_kind_is_told_from_a_missing_right() -> None:
    missing = absence(["InferencePool", "HTTPRoute"], {"HTTPRoute": "404 page not found"})
    forbidden = absence(["HTTPRoute"], {"HTTPRoute": 'httproutes is forbidden: User "system:x" cannot list'})
    assert missing
    assert forbidden
    assert (missing.reason, missing.status) == (Reason.ROUTE_KIND_MISSING, False)
    assert "rbac.routes" in forbidden.message
    assert absence(["HTTPRoute"], {"InferencePool": "404"}) is None
