"""Watches end, lie, stutter or fall silent: what is known becomes true again."""

import time

import pytest

from tests.cluster.kube import Kube
from tests.faults.rules import Action, Rule
from tests.faults.scenes import CREATE, IMAGE, RECREATE, REMOVE_CHILD, SCALE, Scene, a_service_without_pods
from tests.faults.trial import Trial

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

WATCHED = ("llmservices", "deployments", "services", "poddisruptionbudgets")
TOLD = [(scene, resource) for scene in (CREATE, RECREATE) for resource in WATCHED] + [
    (IMAGE, "llmservices"),
    (IMAGE, "deployments"),
]
"""Which watch has something to tell in which scene."""


@pytest.mark.parametrize("action", [Action.EOF, Action.DUPLICATE, Action.GARBLE], ids=lambda action: action.value)
@pytest.mark.parametrize(("scene", "resource"), TOLD, ids=str)
def test_events_that_break_off_or_come_wrong(trial: Trial, scene: Scene, resource: str, action: Action) -> None:
    _play_events(trial, scene, resource, action)


@pytest.mark.parametrize("resource", WATCHED)
def test_the_end_of_the_old_one_is_told_after_the_beginning_of_the_new_one(trial: Trial, resource: str) -> None:
    _play_events(trial, RECREATE, resource, Action.REORDER)


@pytest.mark.parametrize("resource", WATCHED)
@pytest.mark.parametrize("scene", [CREATE, IMAGE, RECREATE, REMOVE_CHILD], ids=str)
def test_events_that_are_lost(trial: Trial, scene: Scene, resource: str) -> None:
    """Later events pass them by, so that no watch will ever tell: the resync does. A list of kopf's asks for one."""

    def end(kube: Kube) -> None:
        time.sleep(2)
        trial.proxy.heal()
        expired = trial.proxy.add(Rule(action=Action.ERROR, verb="watch", resource="llmservices", code=410))
        kube.create(a_service_without_pods(name="bystander"))
        trial.wait_for(lambda: expired.hits > 0)

    rule = Rule(action=Action.DROP, verb="watch", resource=resource, times=0)
    took = trial.play(scene, lambda _: trial.proxy.add(rule), end)

    trial.rows.append(("events lost, then a resync", took))


def test_events_that_are_lost_without_anything_else_that_goes_wrong(trial: Trial) -> None:
    """The worst case: all of the watches lost what happened, and only the resync of every four minutes tells."""
    began = time.monotonic()

    def end(kube: Kube) -> None:
        time.sleep(2)
        trial.proxy.heal()
        kube.create(a_service_without_pods(name="bystander"))
        trial.wait_for(lambda: trial.is_as_after(REMOVE_CHILD, kube), seconds=360)

    trial.play(REMOVE_CHILD, lambda _: trial.proxy.add(Rule(action=Action.DROP, verb="watch", times=0)), end)

    trial.rows.append(("events lost, from then until the next resync", time.monotonic() - began))


def test_a_watch_that_ends_kopf_again_and_again(trial: Trial) -> None:
    """404 ends kopf at once. However often it does, the next start is near."""
    rule = Rule(action=Action.STATUS, verb="watch", resource="llmservices", code=404, times=7)

    def wrong(_: Kube) -> None:
        trial.proxy.add(rule)
        trial.proxy.cut_streams()
        trial.wait_for(lambda: rule.hits == rule.times, seconds=120)

    took = trial.play(CREATE, wrong)

    trial.rows.append(("kopf's watch is answered 404 seven times", took))


@pytest.mark.parametrize("code", [410, 500, 504])
@pytest.mark.parametrize("resource", WATCHED)
def test_an_error_within_a_watch_and_what_was_deleted_meanwhile(trial: Trial, resource: str, code: int) -> None:
    """The error comes in place of the next event; only a list can tell what vanished."""
    _error(trial, resource, code)


@pytest.mark.quick
@pytest.mark.parametrize("resource", ["llmservices", "deployments"])
def test_a_watch_expires_and_what_was_deleted_meanwhile(trial: Trial, resource: str) -> None:
    _error(trial, resource, 410)


@pytest.mark.quick
def test_a_resource_deleted_and_made_again_while_nobody_listens(trial: Trial) -> None:
    """Neither DELETED nor ADDED is ever delivered: another UID under a known name."""
    took = trial.play(RECREATE, lambda _: trial.proxy.fail(), lambda _: trial.proxy.heal())

    trial.rows.append(("delete and create again, both events lost", took))


@pytest.mark.parametrize("scene", [SCALE, RECREATE, REMOVE_CHILD], ids=str)
def test_a_view_that_stands_still(trial: Trial, scene: Scene) -> None:
    """Watches lag and lists are old, as from an API server that lost touch; nothing wrong is written by it."""
    _frozen(trial, scene, 20)


@pytest.mark.quick
def test_a_view_that_stands_still_for_a_moment(trial: Trial) -> None:
    _frozen(trial, RECREATE, 3)


@pytest.mark.parametrize("resource", ["deployments", "llmservices"])
def test_a_watch_that_stays_open_and_says_nothing(trial: Trial, resource: str) -> None:
    """Half-open: no end, no error. The fault ends when somebody notices the silence; all the time counts here."""
    scene = REMOVE_CHILD if resource == "deployments" else IMAGE
    rule = Rule(action=Action.HALF_OPEN, verb="watch", resource=resource)
    began = time.monotonic()

    def end(kube: Kube) -> None:
        trial.wait_for(lambda: trial.is_as_after(scene, kube), seconds=150)

    trial.play(scene, lambda _: trial.proxy.add(rule), end)

    assert rule.hits == 1
    trial.rows.append((f"a half-open watch of {resource}, from its last event on", time.monotonic() - began))


def _play_events(trial: Trial, scene: Scene, resource: str, action: Action) -> None:
    rule = Rule(action=action, verb="watch", resource=resource, times=3)

    took = trial.play(scene, lambda _: trial.proxy.add(rule))

    assert rule.hits > 0, "the watch told nothing: the test shows nothing"
    trial.rows.append((f"a watch: {action.value}", took))


def _error(trial: Trial, resource: str, code: int) -> None:
    rule = Rule(action=Action.ERROR, verb="watch", resource=resource, code=code, times=2)

    took = trial.play(RECREATE, lambda _: trial.proxy.add(rule))

    assert rule.hits > 0
    trial.rows.append((f"a watch: ERROR {code} in place of DELETED", took))


def _frozen(trial: Trial, scene: Scene, seconds: int) -> None:
    rule = Rule(action=Action.FREEZE, times=0)

    def end(_: Kube) -> None:
        time.sleep(seconds)
        trial.proxy.heal()

    took = trial.play(scene, lambda _: trial.proxy.add(rule), end)
    trial.rows.append((f"the view stands still for {seconds} s", took))
