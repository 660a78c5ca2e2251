"""What the autoscaler is asked for: bounds, wishes in seconds and ratios, and what an engine cannot tell."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.autoscaling import Autoscaling
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.autoscaling.planned import policy_of
from llmservice.autoscaling.policy import Law, Objective, Reserve
from llmservice.autoscaling.schedules import bounds_at
from llmservice.engines.metric_names import MetricNames
from llmservice.errors import InvalidSpec
from llmservice.planning.scaling import check_activator, choose_scaling, notes_on_scaling, replica_bound
from llmservice.planning.scaling_plan import LoadTargets, ScalingPlan
from tests.builders import an_llmservice
from tests.unit.planning.planned import planned

TELLS_ALL = MetricNames(running=("running",), waiting=("waiting",), kv_use=("kv",))
TELLS_LATENCY = MetricNames(ttft=("ttft",))


def scaling(metric_names: MetricNames = TELLS_ALL, **autoscaling: Any) -> ScalingPlan:
    """The plan of a resource with this `spec.autoscaling`."""
    return choose_scaling(Autoscaling.model_validate({"maxReplicas": 4, **autoscaling}), metric_names)


def test_nothing_is_scaled_unless_asked_for() -> None:
    assert planned().scaling is None


def test_a_largest_number_is_enough() -> None:
    plan = scaling()
    assert (plan.minimum, plan.maximum, plan.advise, plan.source) == (1, 4, False, "Pods")
    policy = policy_of(plan, bounds_at(plan, 0.0), slots=8, period_seconds=10.0)
    assert (policy.law, policy.reserve, policy.slots) == (Law.LEARNED, Reserve.BALANCED, 8)
    assert policy.objective == Objective(ttft_seconds=3.0, tpot_seconds=0.1)


def test_targets_and_objectives_are_ratios_and_seconds() -> None:
    targets = {"kvCachePercent": 80, "queuedRequests": 2}
    plan = scaling(policy="Threshold", targets=targets, objective={"timePerOutputTokenMilliseconds": 50})
    policy = policy_of(plan, bounds_at(plan, 0.0), slots=8, period_seconds=10.0)
    assert policy.targets == LoadTargets(kv_use=0.8, waiting=2, running=None)
    assert policy.objective.tpot_seconds == 0.05


def test_a_signal_the_engine_never_gives_is_refused_before_anything_runs() -> None:
    names = MetricNames(running=("running",), waiting=("waiting",))
    with pytest.raises(InvalidSpec, match=r"runningRequests .*queuedRequests") as caught:
        scaling(names, policy="Threshold", targets={"kvCachePercent": 80})
    assert caught.value.field == "spec.autoscaling.targets.kvCachePercent"


@pytest.mark.parametrize(
    ("changes", "bound"),
    [
        ({}, 1),
        ({"spec__replicas": 3}, 3),
        ({"spec__autoscaling": {"maxReplicas": 4}}, 4),
        ({"spec__replicas": 6, "spec__autoscaling": {"maxReplicas": 4, "mode": "Advise"}}, 6),
    ],
)
def test_the_bound_is_the_most_that_the_spec_allows_for(changes: dict[str, Any], bound: int) -> None:
    assert replica_bound(LLMService.parse(an_llmservice(**changes)).spec) == bound


PROFILE = [
    {"tokensPerSecond": 1000, "timePerOutputTokenMicroseconds": 20_000},
    {"tokensPerSecond": 6000, "timePerOutputTokenMicroseconds": 50_000},
]


def test_a_measured_profile_becomes_levels_in_steps_a_second() -> None:
    plan = scaling(MetricNames(running=("r",), waiting=("w",), inter_token_latency=("itl",)), profile=PROFILE)
    policy = policy_of(plan, bounds_at(plan, 0.0), slots=8, period_seconds=10.0)
    assert [(at.tokens_per_second, at.steps_per_second) for at in policy.measured] == [(1000, 50), (6000, 20)]


def test_a_profile_is_refused_where_replicas_do_not_follow_tokens() -> None:
    with pytest.raises(InvalidSpec) as caught:
        scaling(profile=PROFILE)
    assert caught.value.field == "spec.autoscaling.profile"


def test_a_time_zone_that_nobody_knows_is_refused_with_the_nearest() -> None:
    hours = {"name": "office", "start": "08:00", "end": "18:00", "minReplicas": 2}
    with pytest.raises(InvalidSpec, match="Europe/Berlin") as caught:
        scaling(schedules=[{**hours, "timeZone": "UTC"}, {**hours, "name": "late", "timeZone": "Europe/Berln"}])
    assert caught.value.field == "spec.autoscaling.schedules[1].timeZone"


@pytest.mark.parametrize(
    ("names", "asked", "told"),
    [
        (TELLS_ALL, {}, False),
        (TELLS_ALL, {"objective": {"timeToFirstTokenMilliseconds": 500}}, True),
        (TELLS_LATENCY, {"objective": {"timeToFirstTokenMilliseconds": 500}}, False),
        (TELLS_LATENCY, {"objective": {}, "policy": "Threshold", "targets": {"queuedRequests": 2}}, True),
    ],
)
def test_an_objective_that_nothing_can_keep_to_is_told(names: MetricNames, asked: dict[str, Any], told: bool) -> None:
    notes = list(notes_on_scaling(Autoscaling.model_validate({"maxReplicas": 4, **asked}), names))
    assert [("spec.autoscaling.objective" in note) for note in notes] == [True] * told


def test_the_plan_tells_of_an_objective_that_nothing_can_keep_to() -> None:
    asked = {"maxReplicas": 2, "objective": {"timeToFirstTokenMilliseconds": 500}}
    assert "objective" not in " ".join(planned(spec__autoscaling={"maxReplicas": 2}).notes)
    assert "spec.autoscaling.objective" in " ".join(planned(spec__autoscaling=asked).notes)


COUNTS = MetricNames(running=("running",), waiting=("waiting",), finished=("finished",))


def test_a_service_may_sleep_by_its_bounds_or_by_a_schedule() -> None:
    night = {"name": "night", "start": "20:00", "end": "06:00", "minReplicas": 0}
    assert not scaling().may_sleep
    assert scaling(COUNTS, minReplicas=0).may_sleep
    assert scaling(COUNTS, schedules=[night], idle={"afterSeconds": 90}).idle_after_seconds == 90


def test_a_law_never_goes_below_one() -> None:
    plan = scaling(COUNTS, minReplicas=0)
    policy = policy_of(plan, bounds_at(plan, 0.0), slots=8, period_seconds=10.0)
    assert (policy.minimum, policy.within(bounds_at(plan, 0.0)).minimum) == (1, 1)


def test_zero_is_refused_where_no_counter_tells_of_requests() -> None:
    with pytest.raises(InvalidSpec) as caught:
        scaling(TELLS_ALL, minReplicas=0)
    assert caught.value.field == "spec.autoscaling.minReplicas"


@pytest.mark.parametrize("installed", [True, False])
def test_zero_is_refused_where_nothing_would_hold_requests(installed: bool) -> None:
    spec = LLMService.parse(an_llmservice(spec__autoscaling={"minReplicas": 0, "maxReplicas": 1})).spec
    if installed:
        check_activator(spec, installed=True)
        return
    with pytest.raises(InvalidSpec) as caught:
        check_activator(spec, installed=False)
    assert (caught.value.reason, caught.value.field) == ("ActivatorMissing", "spec.autoscaling.minReplicas")


def test_the_plan_says_in_which_hours_it_sleeps() -> None:
    night = {"name": "night", "start": "22:00", "end": "06:00", "timeZone": "UTC", "minReplicas": 0}
    asked = Autoscaling.model_validate({"minReplicas": 1, "maxReplicas": 4, "schedules": [night]})
    assert " night," in next(notes_on_scaling(asked, COUNTS))


@pytest.mark.parametrize(("idle", "words"), [({"idle": {"afterSeconds": 90}}, "90 s"), ({}, "status.autoscaling.idle")])
def test_the_plan_says_when_it_sleeps(idle: dict[str, Any], words: str) -> None:
    asked = Autoscaling.model_validate({"minReplicas": 0, "maxReplicas": 4, **idle})
    (note,) = notes_on_scaling(asked, COUNTS)
    assert words in note
