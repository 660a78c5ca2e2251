"""The operator is killed before and after every single write of every scene; its successor ends what it began."""

import time

import pytest

from tests.cluster.kube import Kube
from tests.faults.rules import Action, Rule
from tests.faults.scenes import DELETE, IMAGE, SCENES, Scene
from tests.faults.trial import Trial

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

BOTH_SIDES = pytest.mark.parametrize("action", [Action.CUT_BEFORE, Action.CUT_AFTER], ids=["before", "after"])
MOST_WRITES = 12
LAST_WRITE_SECONDS = 1.0
"""All may look as it should before the last write of a scene, which changes nothing that is compared."""


def crash_at(trial: Trial, scene: Scene, action: Action, nth: int) -> bool:
    """Kill the operator at this write, start it again, judge; False when the scene has no such write."""
    rule = Rule(action=action, writes=True, nth=nth, then=trial.kill)

    def start_again(kube: Kube) -> None:
        trial.wait_for(lambda: rule.hits > 0 or trial.is_as_after(scene, kube))
        if not rule.hits:
            time.sleep(LAST_WRITE_SECONDS)
        trial.proxy.heal()
        if rule.hits:
            trial.restart()

    took = trial.play(scene, lambda _: trial.proxy.add(rule), start_again, restarts=True)
    if rule.hits:
        trial.rows.append((f"the operator is killed {action.value.split()[1]} a write", took))
    return rule.hits > 0


@BOTH_SIDES
@pytest.mark.parametrize("scene", [scene for scene in SCENES if scene is not DELETE], ids=str)
def test_killed_at_every_write(trial: Trial, scene: Scene, action: Action) -> None:
    """Nothing is written when a resource is deleted: the garbage collector takes its children."""
    nth = 1
    while crash_at(trial, scene, action, nth):
        nth += 1
        assert nth < MOST_WRITES, "a scene of this size writes for ever"
    assert nth > 1, "the scene has no write: the test shows nothing"


@pytest.mark.quick
@BOTH_SIDES
def test_killed_at_the_write_of_the_deployment(trial: Trial, action: Action) -> None:
    """One of those above, for every change."""
    assert crash_at(trial, IMAGE, action, 1)


def test_killed_while_a_resource_is_deleted(trial: Trial) -> None:
    def killed(_: Kube) -> None:
        trial.kill()

    took = trial.play(DELETE, killed, lambda _: trial.restart(), restarts=True)
    trial.rows.append(("the operator is killed, then the resource deleted", took))
