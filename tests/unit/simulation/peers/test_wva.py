"""WVA's saturation analysis, by the numbers of its documentation."""

import pytest

from llmservice.simulation.peers.wva import Load, analyzed, wva
from tests.unit.simulation.peers.snapshots import POLICY, a_snapshot, asked


@pytest.mark.parametrize(
    ("loads", "wanted"),
    [
        (((0.65, 0.0), (0.72, 0.0)), 2),  # 0.115 spare: enough; one alone would carry 1.37
        (((0.65, 0.0), (0.76, 0.0)), 3),  # 0.095 spare
        (((0.2, 0.0), (0.3, 0.0)), 1),  # one alone would carry 0.5 and spare 0.3
        (((0.3, 0.0), (0.41, 0.0)), 2),  # one alone would spare 0.09
        (((0.1, 2.0), (0.1, 3.0)), 3),  # 2.5 of 5 spare in the queue: less than 3
        (((0.1, 1.0), (0.1, 2.0)), 2),  # one alone would have 3 waiting
        (((0.9, 9.0), (0.3, 0.0)), 2),  # a saturated replica does not count, and one alone is never removed
        (((0.9, 0.0), (0.9, 0.0)), 3),  # all saturated
    ],
)
def test_one_more_or_one_fewer_by_what_is_spare(loads: tuple[Load, ...], wanted: int) -> None:
    assert analyzed(loads, starting=0) == wanted


def test_nothing_changes_while_a_replica_starts() -> None:
    assert analyzed(((0.9, 9.0), (0.9, 9.0)), starting=1) == 3


def test_it_analyzes_once_a_minute_and_takes_the_peak_of_the_minute() -> None:
    waiting = iter([9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    numbers = asked(wva(POLICY), lambda n: a_snapshot(*[(1.0, next(waiting))] * n), range(15, 121, 15), 1)
    assert numbers == [1, 1, 1, 2, 2, 2, 2, 2]
