"""Policies by name; none but those with hindsight see what has not happened yet."""

import pytest

from llmservice.errors import UsageError
from llmservice.simulation.peers.registry import named_policy
from llmservice.simulation.request import Arrival
from tests.unit.simulation.peers.trials import a_trial, some_load

WITHOUT_HINDSIGHT = ("learned", "learned:Safe", "keda:24", "kubeai:24", "hpa-kv", "wva", "aibrix", "fixed:2")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("kubeai", "kubeai:100"),
        ("hpa-kv", "hpa-kv:80"),
        ("keda:24.0", "keda:24"),
        ("learned", "learned:Balanced"),
        ("learned:safe", "learned:Safe"),
        ("fixed:best", "fixed:best"),
    ],
)
def test_a_name_says_what_its_default_is(written: str, name: str) -> None:
    assert named_policy(written).name == name


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("kedda:24", "choose among learned"),
        ("", "choose among learned"),
        ("keda", "give requests per replica after the colon"),
        ("keda:-1", "give requests per replica"),
        ("keda:nan", "give requests per replica"),
        ("kubeai:many", "give requests per replica"),
        ("hpa-kv:120", "a number up to 100"),
        ("fixed:2.5", "a whole number"),
        ("learned:Huge", "choose among Economy, Balanced, Safe"),
        ("wva:3", "choose among learned"),
    ],
)
def test_a_name_that_means_nothing_is_refused_with_the_way_out(name: str, way_out: str) -> None:
    with pytest.raises(UsageError, match=way_out):
        named_policy(name)


@pytest.mark.parametrize("name", WITHOUT_HINDSIGHT)
def test_no_policy_sees_the_future(name: str) -> None:
    known = [arrival for arrival in some_load() if arrival.at < 600]
    calm = [*known, Arrival(900.0, 100, 10)]
    busy = [*known, *(Arrival(600 + number / 20, 3000, 200) for number in range(1500))]
    before = [
        [(moment.at, moment.asked) for moment in named_policy(name).play(a_trial(load)).moments if moment.at <= 600]
        for load in (calm, busy)
    ]
    assert before[0] == before[1]
    assert before[0][-1][0] == 600


@pytest.mark.parametrize("name", [*WITHOUT_HINDSIGHT, "fixed:best", "clairvoyant"])
def test_the_same_trial_ends_the_same_and_leaves_nothing_behind(name: str) -> None:
    policy, trial = named_policy(name), a_trial(some_load()[:800], maximum=3)
    first, second = policy.play(trial), policy.play(trial)
    assert [moment.asked for moment in first.moments] == [moment.asked for moment in second.moments]
    assert (first.attainment, first.replica_seconds) == (second.attainment, second.replica_seconds)
