"""What is remembered of scaled services: one object for each, one owner, parts that are replaced whole."""

from collections.abc import Iterator
from typing import NoReturn

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.converging.pod_readings import ReadFailureReason
from llmservice.converging.revisions import in_force
from llmservice.objects.references import Ref, uid_of
from llmservice.reconcilers.scaling.service_states import ServiceStates
from tests.scenarios.scaled_world import RUNNING, UNREACHABLE, ScaledWorld

KEY = ("ml", "chat")


@pytest.fixture
def world() -> ScaledWorld:
    return ScaledWorld().scaled()


def test_a_service_has_one_state_however_often_it_is_found(world: ScaledWorld) -> None:
    before = world.state
    world.tick(3)
    assert world.state is before
    assert world.states.of(uid_of(world.get("LLMService")), KEY) is before
    assert world.states.named(KEY) is before


def test_all_that_is_remembered_goes_with_the_resource(world: ScaledWorld) -> None:
    uid = uid_of(world.get("LLMService"))
    world.cluster.remove(Ref("LLMService", *KEY))
    assert (world.states.report(uid), world.states.named(KEY), [*world.states]) == (None, None, [])


def test_a_service_is_unknown_to_readers_until_its_first_round() -> None:
    states = ServiceStates()
    states.of("uid", KEY)
    assert (states.named(KEY), states.report("uid")) == (None, None)


def test_what_a_reader_holds_does_not_change_under_it(world: ScaledWorld) -> None:
    """/metrics and /explain are served from another thread."""
    evaluation, decisions, failures = world.state.evaluation, world.state.decisions, world.state.read_failures
    kept = dict(decisions), dict(failures)
    world.source.unreadable = {"chat-1-01": UNREACHABLE}
    world.round()
    assert (decisions, failures) == kept
    assert world.state.evaluation is not evaluation
    assert world.state.decisions[Reason.NO_FRESH_READINGS] == decisions.get(Reason.NO_FRESH_READINGS, 0) + 1
    assert world.state.read_failures == {ReadFailureReason.UNREACHABLE: 1}


def test_states_may_be_walked_while_services_come_and_go() -> None:
    states = ServiceStates()
    for number in range(3):
        states.of(str(number), ("ml", str(number)))
    walk: Iterator[object] = iter(states)
    next(walk)
    states.forget("1")
    states.of("3", ("ml", "3"))
    assert len([*walk]) == 2


def test_a_plan_is_made_once_for_each_generation(world: ScaledWorld) -> None:
    first = world.autoscaler.services.find(KEY)
    again = world.autoscaler.services.find(KEY)
    world.apply(spec__autoscaling={"maxReplicas": 7, **RUNNING})
    edited = world.autoscaler.services.find(KEY)
    assert first is not None
    assert again is not None
    assert edited is not None
    assert again.plan is first.plan
    assert (first.scaling.maximum, edited.scaling.maximum) == (8, 7)


def test_a_spec_that_only_an_edit_can_help_is_not_scaled_and_not_planned_again(world: ScaledWorld) -> None:
    world.apply(spec__engine="vllm", spec__engineOptions={"version": "0.0.1"}, spec__autoscaling={"maxReplicas": 2})
    assert world.autoscaler.services.find(KEY) is None
    assert world.state.plans.of(in_force(world.get("LLMService"), None), world.get("Deployment"), made_again) is None


def made_again(resource: LLMService) -> NoReturn:
    raise AssertionError(resource)
