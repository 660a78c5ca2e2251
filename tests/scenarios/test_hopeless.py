"""Starts that fail again and again: when the service is Stalled, and when it stops being so."""

from typing import Any

import pytest

from tests.cluster.kstatus import KStatus, kstatus
from tests.scenarios.rollout_world import READY, RolloutWorld, crashing
from tests.scenarios.test_rollbacks import failing, rollout_of
from tests.scenarios.test_trouble import with_pod
from tests.scenarios.world import World

REJECTED = "error: invalid argument: --no-such-flag"
HUB_DOWN = "GET failed (503)"
BY_THE_NODE = {
    "exitCode": 137,
    "reason": "Error",
    "startedAt": "2026-01-01T00:00:00Z",
    "finishedAt": "2026-01-01T00:00:05Z",
}


def crash(world: World, number: int, **end: Any) -> KStatus:
    """The start with this number, from 0, fails; what GitOps tools read afterwards."""
    ended = {"exitCode": 1, "reason": "Error", "containerID": f"containerd://{number}", **end}
    with_pod(world, {"state": {"terminated": ended}, "restartCount": number})
    world.reconcile()
    return kstatus(world.get("LLMService"))


def starting(**changes: Any) -> World:
    """A new service whose only pod was created."""
    world = World()
    world.apply(spec__engine="llamacpp", **changes)
    world.reconcile()
    world.roll_out()
    return world


def test_the_third_crash_of_one_cause_makes_it_stalled_without_waiting_for_the_deadline() -> None:
    world = starting()
    told = [crash(world, number, message=REJECTED) for number in range(3)]
    assert told == [KStatus.IN_PROGRESS, KStatus.IN_PROGRESS, KStatus.FAILED]
    assert world.condition("Stalled")["reason"] == world.condition()["reason"] == "EngineArgumentRejected"
    assert world.condition("Reconciling") == {}


@pytest.mark.parametrize(
    "end", [{"message": HUB_DOWN}, BY_THE_NODE, {"message": "something unheard of"}], ids=["hub", "node", "unnamed"]
)
def test_what_may_pass_stays_reconciling_however_often_it_crashes(end: dict[str, Any]) -> None:
    world = starting()
    assert {crash(world, number, **end) for number in range(9)} == {KStatus.IN_PROGRESS}


def test_another_cause_than_before_is_not_the_same_crash() -> None:
    world = starting()
    told = [crash(world, number, message=HUB_DOWN) for number in range(3)]
    told += [crash(world, number, message=REJECTED) for number in (3, 4)]
    assert told == [*[KStatus.IN_PROGRESS] * 4, KStatus.FAILED]


def test_an_edit_makes_it_reconcile_again_at_once_and_a_good_one_makes_it_ready() -> None:
    world = starting()
    for number in range(3):
        crash(world, number, message=REJECTED)
    world.apply(spec__engine="llamacpp", spec__maxModelLen=2048)
    assert kstatus(world.get("LLMService")) is KStatus.IN_PROGRESS
    world.reconcile()
    assert world.condition("Stalled") == {}
    assert world.condition("Reconciling")["status"] == "True"
    world.roll_out()
    world.reconcile()
    assert kstatus(world.get("LLMService")) is KStatus.CURRENT


def test_an_operator_that_restarts_says_the_same_and_writes_nothing() -> None:
    world = starting()
    for number in range(3):
        crash(world, number, message=REJECTED)
    world.writes()
    world.reconcile()
    assert (world.condition("Stalled")["status"], world.writes()) == ("True", [])


def test_a_pod_that_starts_after_all_is_ready() -> None:
    world = starting()
    for number in range(3):
        crash(world, number, message=REJECTED)
    world.roll_out()
    world.reconcile()
    assert kstatus(world.get("LLMService")) is KStatus.CURRENT


def test_a_change_has_failed_before_it_is_taken_back_and_still_has_when_the_revision_before_serves() -> None:
    world = failing(RolloutWorld().first(), crashing(1))
    assert kstatus(world.get("LLMService")) is KStatus.IN_PROGRESS
    world.step(crashing(2), old=1)
    world.settle()
    assert kstatus(world.get("LLMService")) is KStatus.FAILED
    assert "failed" not in rollout_of(world)
    world.step(crashing(9), old=1, late=True)
    world.settle()
    world.step(READY, READY)
    world.settle()
    assert (world.condition()["status"], world.condition()["reason"]) == ("True", "RolledBack")
    assert kstatus(world.get("LLMService")) is KStatus.FAILED
