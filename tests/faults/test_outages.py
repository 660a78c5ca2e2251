"""The API server goes away, or says no for a while: nothing exits, and all is well soon after."""

import time

import pytest

from tests.cluster.kube import Kube
from tests.faults.rules import Action, Rule
from tests.faults.scenes import CREATE, SCENES, Scene
from tests.faults.trial import Trial

pytestmark = [pytest.mark.cluster, pytest.mark.faults]


@pytest.mark.parametrize("seconds", [pytest.param(5, marks=pytest.mark.quick), 70, 300])
def test_a_resource_made_right_after_an_outage_is_acted_on_at_once(trial: Trial, seconds: int) -> None:
    """70 s is longer than kopf waits as it comes, 300 s longer than a watch lasts. Its probe stays green meanwhile."""

    def outage(_: Kube) -> None:
        trial.proxy.fail()
        time.sleep(seconds)
        assert trial.is_healthy()
        trial.proxy.heal()

    took = trial.play(CREATE, outage)

    trial.rows.append((f"outage of {seconds} s, a resource made right after it", took))


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_what_was_asked_for_during_an_outage_is_done_after_it(trial: Trial, scene: Scene) -> None:
    def end(_: Kube) -> None:
        time.sleep(5)
        trial.proxy.heal()

    took = trial.play(scene, lambda _: trial.proxy.fail(), end)

    trial.rows.append(("outage of 5 s, the change made during it", took))


@pytest.mark.parametrize("code", [403, 429, 500, 503, 504])
@pytest.mark.parametrize("seconds", [5, 20])
def test_a_spell_of_refusals_leaves_nothing_behind(trial: Trial, code: int, seconds: int) -> None:
    _spell(trial, Rule(action=Action.STATUS, code=code, times=0), seconds, f"every call answered {code}")


@pytest.mark.quick
@pytest.mark.parametrize("code", [403, 503])
def test_a_short_spell_of_refusals_leaves_nothing_behind(trial: Trial, code: int) -> None:
    _spell(trial, Rule(action=Action.STATUS, code=code, times=0), 3, f"every call answered {code}")


@pytest.mark.parametrize("seconds", [20, 70])
def test_an_api_server_that_accepts_and_never_answers(trial: Trial, seconds: int) -> None:
    _spell(trial, Rule(action=Action.HANG, times=0), seconds, "no call is answered")


def test_an_api_server_that_takes_a_second_for_everything(trial: Trial) -> None:
    _spell(trial, Rule(action=Action.DELAY, seconds=1, times=0), 10, "every call is 1 s late")


def test_ten_short_outages_in_a_row(trial: Trial) -> None:
    def flapping(_: Kube) -> None:
        for _again in range(10):
            trial.proxy.fail()
            time.sleep(0.5)
            trial.proxy.heal()
            time.sleep(0.5)

    took = trial.play(CREATE, flapping)

    trial.rows.append(("ten outages of half a second", took))


def _spell(trial: Trial, rule: Rule, seconds: int, fault: str) -> None:
    """Everything goes wrong for so long, new watches included; the change is made at its beginning.

    It lasts from the first call that met it: after an outage shortly before, the next call may be seconds away.
    """

    def wrong(_: Kube) -> None:
        trial.proxy.add(rule)
        trial.proxy.cut_streams()

    def end(_: Kube) -> None:
        trial.wait_for(lambda: rule.hits > 0)
        time.sleep(seconds)
        trial.proxy.heal()

    took = trial.play(CREATE, wrong, end)
    trial.rows.append((f"{fault} for {seconds} s", took))
