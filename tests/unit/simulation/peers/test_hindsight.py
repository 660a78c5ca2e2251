"""What knows the whole load: the bounds that policies are compared with."""

import pytest

from llmservice.simulation.engine_profile import engine_profile
from llmservice.simulation.peers.hindsight import GOAL, clairvoyant, fixed_fleet, smallest_fixed, work_seconds
from llmservice.simulation.peers.registry import named_policy
from llmservice.simulation.request import Arrival
from tests.unit.simulation.peers.trials import a_trial


def test_a_fixed_fleet_is_there_from_the_beginning() -> None:
    done = fixed_fleet(a_trial(), 3)
    assert done.average_replicas == pytest.approx(3.0)
    assert done.changes == ()


def test_the_smallest_fixed_fleet_attains_the_goal_and_one_fewer_does_not() -> None:
    trial = a_trial()
    best = smallest_fixed(trial)
    replicas = round(best.average_replicas)
    assert best.attainment >= GOAL > fixed_fleet(trial, replicas - 1).attainment


def test_where_no_fixed_fleet_attains_the_goal_it_is_the_one_that_attains_most() -> None:
    assert smallest_fixed(a_trial(maximum=1)).average_replicas == pytest.approx(1.0)


def test_knowing_the_load_costs_less_than_the_smallest_fixed_fleet_and_than_any_policy() -> None:
    trial = a_trial()
    bound = clairvoyant(trial)
    assert bound.attainment >= GOAL
    assert bound.replica_seconds < 0.8 * smallest_fixed(trial).replica_seconds
    others = [named_policy(name).play(trial) for name in ("learned", "keda:12", "keda:24")]
    good = [done for done in others if done.attainment >= GOAL]
    assert good
    assert all(bound.replica_seconds < done.replica_seconds for done in good)
    assert bound.moments[-1].asked < max(moment.asked for moment in bound.moments)


def test_it_starts_replicas_before_the_load_is_there() -> None:
    asked = [moment.asked for moment in clairvoyant(a_trial()).moments]
    assert next(at for at, number in enumerate(asked, 1) if number > asked[0]) * 10 < 450


def test_the_work_of_a_request_is_the_time_it_keeps_an_engine() -> None:
    profile = engine_profile("a100-8b")
    batch = profile.max_batched_tokens
    full = work_seconds(Arrival(0.0, batch, 1), profile)
    assert full == pytest.approx(
        profile.step_seconds[batch]
        + batch * batch / 2 * profile.attention_seconds
        + profile.step_seconds[64] / 64
        + profile.kv_read_seconds * (batch + 0.5)
    )
