"""A replay: what it scores, what it bills, how it counts changes."""

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.policy import Objective
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.errors import InvalidInput
from llmservice.simulation.fleet import Fleet
from llmservice.simulation.replaying import Decider, Replay, replay, within
from llmservice.simulation.request import Arrival, Request
from tests.unit.simulation.builders import a_profile, always

STEADY = [Arrival(float(second), 50, 5) for second in range(1, 101)]


def replayed(decider: Decider, *, start: float = 0.0, objective: Objective | None = None) -> Replay:
    fleet = Fleet(a_profile(), cold_start_seconds=20.0, asked=1)
    return replay(STEADY, fleet, decider, objective=objective or Objective(), start=start)


def changing(*numbers: int) -> Decider:
    """Ask for these numbers, one after another, then keep the last."""
    coming = list(numbers)

    def decided(snapshot: Snapshot, now: float) -> Decision:  # noqa: ARG001
        number = coming.pop(0) if len(coming) > 1 else coming[0]
        return Decision(replicas=number, reason=Reason.STEADY, message="")

    return decided


def test_all_requests_meet_an_easy_objective() -> None:
    result = replayed(always(1))
    assert (result.attainment, len(result.requests)) == (1.0, 100)


def test_none_meets_an_impossible_objective() -> None:
    assert replayed(always(1), objective=Objective(tpot_seconds=0.001)).attainment == 0.0


def test_bills_replicas_and_their_devices() -> None:
    result = replayed(always(3))
    assert result.average_replicas == pytest.approx((100 + 2 * 90) / 100)
    assert result.device_hours == pytest.approx(2 * (100 + 2 * 90) / 3600)


def test_the_warm_up_is_neither_scored_nor_billed() -> None:
    result = replayed(always(1), start=50.0)
    assert (len(result.requests), result.average_replicas) == (51, 1.0)
    assert result.moments[0].at == 50.0


@pytest.mark.parametrize("arrivals", [[], [Arrival(50.0, 50, 5)], [Arrival(20.0, 50, 5), Arrival(50.0, 50, 5)]])
def test_a_load_that_takes_no_time_is_refused(arrivals: list[Arrival]) -> None:
    fleet = Fleet(a_profile(), cold_start_seconds=20.0, asked=1)
    with pytest.raises(InvalidInput, match="give a --trace with requests at different times"):
        replay(arrivals, fleet, always(1), objective=Objective(), start=50.0)


def test_counts_changes_and_reversals() -> None:
    result = replayed(changing(1, 3, 3, 2, 1, 2))
    assert result.changes == (2, -1, -1, 1)
    assert result.reversals == 2


@pytest.mark.parametrize(("first", "last", "met"), [(2.9, 12.0, True), (3.1, 4.0, False), (1.0, 12.0, False)])
def test_a_request_meets_the_objective_with_both_latencies(first: float, last: float, *, met: bool) -> None:
    request = Request(at=0.0, prompt_tokens=10, output_tokens=101, first_at=first, last_at=last)
    assert within(request, Objective(ttft_seconds=3.0, tpot_seconds=0.1)) is met


def test_an_unfinished_request_meets_nothing() -> None:
    assert not within(Request(at=0.0, prompt_tokens=1, output_tokens=2, first_at=0.1), Objective())


def test_the_same_replay_gives_the_same_result() -> None:
    assert replayed(changing(1, 2)).average_replicas == replayed(changing(1, 2)).average_replicas
