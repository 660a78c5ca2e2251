"""The offered load: arrivals times sizes, over all replicas that take requests."""

import pytest

from llmservice.autoscaling.demand import cold_start_seconds, measured_sizes, observed
from llmservice.autoscaling.memory import HALF_MINUTES_KEPT, LOADS_KEPT, Demand
from llmservice.autoscaling.snapshot import Replica
from tests.unit.autoscaling.builders import a_flow, a_replica, a_silent_replica, a_snapshot, a_starting_replica

UNSIZED = {"finished_prompt_tokens": None, "finished_generated_tokens": None}


def test_load_is_what_arrived_times_what_a_request_costs() -> None:
    demand = observed(Demand(), a_snapshot(a_replica(flow=a_flow(40.0, arrived=60.0))))
    assert demand.loads == (6 * 1200,)


def test_loads_of_replicas_add_up() -> None:
    demand = observed(Demand(), a_snapshot(a_replica("a"), a_replica("b")))
    assert demand.loads == (2 * 4800,)


def test_a_silent_replica_is_taken_to_receive_what_the_others_do() -> None:
    demand = observed(Demand(), a_snapshot(a_replica("a"), a_silent_replica(), a_starting_replica()))
    assert demand.loads == (2 * 4800,)


def test_a_replica_after_a_reset_counts_like_the_others() -> None:
    snapshot = a_snapshot(a_replica("a"), Replica(name="b", running=3.0))
    assert observed(Demand(), snapshot).loads == (2 * 4800,)


def test_an_engine_that_does_not_count_what_finished_is_taken_to_receive_what_the_others_do() -> None:
    """In a rollout to such an engine old and new replicas share the load."""
    uncounted = a_flow(0.0, arrived=None, prompt_tokens=40_000.0, generated_tokens=8_000.0)
    demand = observed(Demand(), a_snapshot(a_replica("a"), a_replica("b", flow=uncounted)))
    assert demand.loads == (2 * 4800,)
    assert demand.sizes == observed(Demand(), a_snapshot(a_replica("a"))).sizes


def test_an_empty_queue_that_empties_is_no_negative_load() -> None:
    demand = observed(Demand(), a_snapshot(a_replica(flow=a_flow(40.0, arrived=-3.0))))
    assert demand.loads == (0,)


def test_no_load_is_known_before_something_finished() -> None:
    demand = observed(Demand(), a_snapshot(a_replica(flow=a_flow(0.0, arrived=5.0))))
    assert (demand.loads, demand.sizes, demand.held) == ((), None, (8,))


def test_sizes_come_from_finished_requests() -> None:
    sizes = measured_sizes(None, [a_flow(40.0, prompt_tokens=1.0, generated_tokens=1.0)])
    assert sizes is not None
    assert (sizes.prompt, sizes.answer) == (1000.0, 200.0)


def test_sizes_are_estimated_where_the_engine_does_not_report_them() -> None:
    growing = a_flow(40.0, first_tokens=60.0, prompt_tokens=60_000.0, generated_tokens=10_000.0, **UNSIZED)
    sizes = measured_sizes(None, [growing])
    assert sizes is not None
    assert (sizes.prompt, sizes.answer) == (1000.0, 200.0)


def test_finished_requests_without_any_token_have_no_size() -> None:
    assert measured_sizes(None, [a_flow(5.0, finished_prompt_tokens=0.0, finished_generated_tokens=0.0)]) is None


def test_sizes_follow_within_minutes() -> None:
    sizes = measured_sizes(None, [a_flow(40.0)])
    longer = a_flow(40.0, finished_prompt_tokens=40 * 3000.0)
    for _ in range(60):
        sizes = measured_sizes(sizes, [longer])
    assert sizes is not None
    assert 2900.0 < sizes.prompt < 3000.0


def test_a_moment_in_which_nothing_finished_leaves_sizes_alone() -> None:
    sizes = measured_sizes(None, [a_flow(40.0)])
    assert measured_sizes(sizes, [a_flow(0.0)]) == sizes


def test_three_readings_make_half_a_minute() -> None:
    demand = Demand()
    for requests in (10.0, 20.0, 60.0, 90.0):
        demand = observed(demand, a_snapshot(a_replica(flow=a_flow(requests))))
    assert demand.half_minutes == (3600,)


def test_an_hour_is_kept_and_no_more() -> None:
    demand = Demand()
    for _ in range(500):
        demand = observed(demand, a_snapshot())
    assert (len(demand.loads), len(demand.half_minutes)) == (LOADS_KEPT, HALF_MINUTES_KEPT)


@pytest.mark.parametrize(("seen", "seconds"), [((), 120.0), ((80.0,), 80.0), ((80.0, 200.0, 90.0), 200.0)])
def test_a_cold_start_is_the_longest_of_the_last(seen: tuple[float, ...], seconds: float) -> None:
    assert cold_start_seconds(observed(Demand(), a_snapshot(cold_starts=seen))) == seconds


def test_a_slow_start_is_forgotten_after_eight_others() -> None:
    demand = observed(Demand(), a_snapshot(cold_starts=(900.0, *[60.0] * 8)))
    assert cold_start_seconds(demand) == 60.0
