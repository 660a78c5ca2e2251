"""Streams while the operator itself is killed, or another one takes over, in the middle of a rollout."""

import threading
from pathlib import Path

import pytest

from tests.cluster.target import Target
from tests.streams.conftest import an_operator
from tests.streams.stage import Stage

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.streams]


def test_the_operator_is_killed_in_the_middle_of_a_rollout(stage: Stage) -> None:
    before = stage.pods()
    with stage.disturbed("the operator is killed (SIGKILL) in a rollout, and started again") as audience:
        stage.edit(maxNumSeqs=18)
        stage.wait(lambda: stage.pods() - before, audience)
        assert stage.operator.process is not None
        stage.operator.process.kill()
        stage.operator.process.wait(10)
        stage.edit(maxNumSeqs=19)
        stage.operator.start()
        stage.wait(lambda: stage.all_replaced(before), audience)


def test_another_operator_leads_in_the_middle_of_a_rollout(stage: Stage, target: Target, tmp_path: Path) -> None:
    before, first = stage.pods(), stage.operator
    second = an_operator(target, stage.kube, tmp_path / "operator.log")
    starting = threading.Thread(target=second.start, name="standby")  # it works when it leads
    with stage.disturbed("another operator leads from the middle of a rollout on") as audience:
        starting.start()
        stage.wait(lambda: second.process is not None, audience)
        stage.edit(maxNumSeqs=20)
        stage.wait(lambda: stage.pods() - before, audience)
        first.stop()
        starting.join()
        stage.edit(maxNumSeqs=21)
        stage.wait(lambda: stage.all_replaced(before), audience)
    second_led = second.process is not None and second.process.poll() is None
    second.stop()
    first.start()
    assert second_led
