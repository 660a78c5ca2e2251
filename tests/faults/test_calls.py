"""Each fault of HTTP on each call the operator makes: the end is that of a clean run, and nothing is made twice."""

from dataclasses import replace

import pytest

from tests.cluster.kube import Kube
from tests.faults.rules import Action, Rule
from tests.faults.scenes import CREATE, RECREATE, SCALE, Scene
from tests.faults.trial import Trial

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

FAULTS = {
    **{f"answered {code}": Rule(action=Action.STATUS, code=code) for code in (403, 409, 422, 429, 500, 503, 504)},
    "cut before it was sent on": Rule(action=Action.CUT_BEFORE),
    "cut after it was done": Rule(action=Action.CUT_AFTER),
    "10 s late": Rule(action=Action.DELAY, seconds=10),
}

ONCE = ("answered 403", "answered 422", "10 s late")
"""A refusal is tried again every 20 s, and three late calls are one that is later: more of them tell nothing more."""

DOSES = [(fault, 1) for fault in FAULTS] + [(fault, 3) for fault in FAULTS if fault not in ONCE]

CALLS: tuple[tuple[Scene, str, str, str | None], ...] = (
    (CREATE, "get", "llmservices", None),
    (CREATE, "patch", "services", None),
    (CREATE, "patch", "poddisruptionbudgets", None),
    (CREATE, "patch", "deployments", None),
    (CREATE, "patch", "llmservices", "status"),
    (CREATE, "create", "events", None),
    (SCALE, "delete", "poddisruptionbudgets", None),
    (SCALE, "patch", "llmservices", "status"),
)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: " ".join(filter(None, (str(call[0]), *call[1:]))))
@pytest.mark.parametrize(("fault", "times"), DOSES)
def test_a_call_that_fails_is_made_good(
    trial: Trial, fault: str, call: tuple[Scene, str, str, str | None], times: int
) -> None:
    scene, verb, resource, subresource = call
    rule = replace(FAULTS[fault], verb=verb, resource=resource, subresource=subresource, times=times)

    took = trial.play(scene, lambda _: trial.proxy.add(rule), lambda _: trial.wait_for(lambda: rule.hits >= 1))

    trial.rows.append((f"a call is {fault}", took))


@pytest.mark.quick
@pytest.mark.parametrize("fault", ["cut after it was done", "answered 500"])
def test_the_write_of_the_deployment_fails(trial: Trial, fault: str) -> None:
    """What the matrix has for every call, for the one that takes a GPU."""
    rule = replace(FAULTS[fault], verb="patch", resource="deployments")

    took = trial.play(CREATE, lambda _: trial.proxy.add(rule))

    assert rule.hits == 1
    trial.rows.append((f"a call is {fault}", took))


READING_FAULTS = {fault: rule for fault, rule in FAULTS.items() if rule.action is not Action.DELAY} | {
    f"answered {code}": Rule(action=Action.STATUS, code=code) for code in (404, 410)
}
"""A late list or watch is a good one: nothing has to be made good."""


@pytest.mark.parametrize("fault", READING_FAULTS)
@pytest.mark.parametrize("resource", ["llmservices", "deployments"])
def test_a_list_that_fails_after_a_watch_expired(trial: Trial, resource: str, fault: str) -> None:
    expired = Rule(action=Action.ERROR, verb="watch", resource=resource, code=410)
    rule = replace(READING_FAULTS[fault], verb="list", resource=resource, times=2)

    def wrong(_: Kube) -> None:
        trial.proxy.add(expired)
        trial.proxy.add(rule)

    took = trial.play(RECREATE, wrong, lambda _: trial.wait_for(lambda: rule.hits == rule.times))

    trial.rows.append((f"a list is {fault} after a watch expired", took))


@pytest.mark.parametrize("fault", [fault for fault in READING_FAULTS if not fault.startswith("cut after")])
@pytest.mark.parametrize("resource", ["llmservices", "deployments"])
def test_a_watch_that_cannot_be_opened_again(trial: Trial, resource: str, fault: str) -> None:
    rule = replace(READING_FAULTS[fault], verb="watch", resource=resource, times=2)

    def wrong(_: Kube) -> None:
        trial.proxy.add(rule)
        trial.proxy.cut_streams()

    took = trial.play(RECREATE, wrong, lambda _: trial.wait_for(lambda: rule.hits == rule.times))

    trial.rows.append((f"a watch, opened again, is {fault}", took))
