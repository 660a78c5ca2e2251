"""A fleet: routing, cold starts, draining, cost, and what a scrape would see."""

from llmservice.autoscaling.policy import Objective
from llmservice.autoscaling.snapshot import Phase
from llmservice.simulation.fleet import Fleet
from tests.unit.simulation.builders import a_profile, a_request


def a_fleet(asked: int = 1, cold_start_seconds: float = 100.0) -> Fleet:
    return Fleet(a_profile(), cold_start_seconds, asked)


def test_requests_go_to_the_replica_that_holds_the_fewest() -> None:
    fleet = a_fleet(2)
    fleet.advance(0.0)
    for _ in range(6):
        fleet.route(a_request(), 0.0)
    assert [member.engine.requests for member in fleet.members] == [3, 3]


def test_a_new_replica_serves_after_its_cold_start() -> None:
    fleet = a_fleet()
    fleet.scale(2, 0.0)
    fleet.advance(80.0)
    assert [member.ready for member in fleet.members] == [True, False]
    fleet.advance(120.0)
    assert [member.ready for member in fleet.members] == [True, True]


def test_without_a_ready_replica_requests_wait_at_the_gate() -> None:
    fleet = a_fleet(0)
    fleet.scale(1, 0.0)
    fleet.route(a_request(), 1.0)
    assert fleet.snapshot(1.0, Objective()).gated == 1
    fleet.advance(200.0)
    assert fleet.idle()


def test_what_is_starting_goes_first() -> None:
    fleet = a_fleet(2)
    fleet.advance(0.0)
    fleet.scale(3, 0.0)
    fleet.scale(1, 10.0)
    assert [member.draining for member in fleet.members] == [True, False] or len(fleet.members) == 2
    assert all(member.ready for member in fleet.members)


def test_a_ready_replica_finishes_its_requests_before_it_ends() -> None:
    fleet = a_fleet(2)
    fleet.advance(0.0)
    requests = [a_request(output=100) for _ in range(2)]
    for request in requests:
        fleet.route(request, 0.0)
    fleet.scale(1, 0.0)
    fleet.advance(0.5)
    assert len(fleet.members) == 2
    fleet.advance(10.0)
    assert len(fleet.members) == 1
    assert all(request.last_at is not None for request in requests)


def test_a_draining_replica_gets_no_more_requests() -> None:
    fleet = a_fleet(2)
    fleet.advance(0.0)
    for _ in range(2):
        fleet.route(a_request(output=1000), 0.0)
    fleet.scale(1, 0.0)
    for _ in range(4):
        fleet.route(a_request(output=1000), 0.0)
    assert sorted(member.engine.requests for member in fleet.members) == [1, 5]


def test_a_replica_costs_from_its_creation_to_its_end() -> None:
    fleet = a_fleet()
    fleet.scale(2, 50.0)
    fleet.scale(1, 80.0)
    assert fleet.ended[0].seconds_within(0.0, 1000.0) == 30.0
    assert fleet.ended[0].seconds_within(60.0, 70.0) == 10.0
    assert fleet.members[0].seconds_within(10.0, 1000.0) == 990.0


def test_the_first_replicas_have_started_too_and_cost_nothing_before_the_beginning() -> None:
    fleet = a_fleet(2)
    fleet.advance(0.0)
    assert [90.0 <= seconds <= 110.0 for seconds in fleet.snapshot(10.0, Objective()).cold_starts] == [True, True]
    assert fleet.members[0].seconds_within(0.0, 100.0) == 100.0


def test_a_scrape_sees_gauges_and_growth() -> None:
    fleet = a_fleet()
    fleet.advance(0.0)
    fleet.route(a_request(prompt=50, output=3), 0.0)
    fleet.advance(10.0)
    fleet.route(a_request(output=10_000), 10.0)
    fleet.advance(10.5)
    replica = fleet.snapshot(10.5, Objective()).ready[0]
    assert (replica.running, replica.waiting) == (1, 0)
    assert replica.flow is not None
    assert (replica.flow.finished, replica.flow.arrived) == (1, 2)


def test_a_second_scrape_sees_only_what_came_since() -> None:
    fleet = a_fleet()
    fleet.advance(0.0)
    fleet.route(a_request(), 0.0)
    fleet.advance(10.0)
    fleet.snapshot(10.0, Objective())
    fleet.advance(20.0)
    flow = fleet.snapshot(20.0, Objective()).flows[0]
    assert (flow.seconds, flow.finished, flow.prompt_tokens) == (10.0, 0, 0)


def test_a_starting_replica_is_seen_as_such_and_its_cold_start_once() -> None:
    fleet = a_fleet()
    fleet.scale(2, 10.0)
    fleet.advance(50.0)
    assert [member.phase for member in fleet.snapshot(50.0, Objective()).members] == [Phase.READY, Phase.STARTING]
    fleet.advance(150.0)
    (cold_start,) = fleet.snapshot(150.0, Objective()).cold_starts  # the first replica's was told at 50
    assert 90.0 <= cold_start <= 110.0
    assert fleet.snapshot(160.0, Objective()).cold_starts == ()
