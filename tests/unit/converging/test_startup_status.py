"""`status.startup`: one start is followed, told in Events once for a rollout, and learned from."""

import dataclasses
import itertools
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.startup_status import StartupStatus
from llmservice.converging.startup_budget import each_is_overdue, how_to_wait, overdue, seconds_to_news
from llmservice.converging.startup_events import ended_start, startup_event
from llmservice.converging.startup_status import followed_pod, known_cold_start, startup_status
from llmservice.engines.start_times import UNTIMED, StartTimes
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from tests.unit.converging.plans import a_plan, of_an_earlier_operator
from tests.unit.converging.starting import at, condition, ready_after, starting

Status = dict[str, Any]
NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)
OWNER: Manifest = {"apiVersion": "v", "kind": "LLMService", "metadata": {"name": "chat", "namespace": "ml", "uid": "u"}}


def told(
    pods: Iterable[Manifest],
    before: Status | None = None,
    times: Mapping[str, StartTimes] | None = None,
    plan: ServicePlan | None = None,
) -> Status:
    """The status of the next pass; the log of chat-1 was read unless `times` says otherwise."""
    read = {"chat-1": UNTIMED} if times is None else times
    startup = startup_status(plan or a_plan(), before or {}, pods, read)
    if startup is not None:
        StartupStatus.model_validate(startup)
    return {} if startup is None else {"startup": startup}


def events(*statuses: Status) -> list[str]:
    """Reasons of the Events on the way from one status to the next."""
    pairs = itertools.pairwise(statuses)
    found = (startup_event(OWNER, before, after, NOW) for before, after in pairs)
    return [event["reason"] for event in found if event]


def a_life() -> list[Status]:
    """The statuses of one start, from nothing to ready."""
    statuses: list[Status] = [{}]
    for pod in (
        starting(),
        starting(scheduled=2),
        starting(scheduled=2, started=50),
        ready_after(113, scheduled=2, started=50),
        ready_after(113, scheduled=2, started=50),
    ):
        statuses.append(told([pod], statuses[-1]))
    return statuses


def test_a_start_is_followed_to_its_end() -> None:
    *_, loading, ended, again = a_life()
    assert loading["startup"]["current"] == {
        "pod": "chat-1",
        "revision": "chat-a",
        "phase": "load",
        "scheduledSeconds": 2,
        "imageSeconds": 48,
    }
    assert "last" not in loading["startup"]
    assert ended["startup"]["last"] == {
        "pod": "chat-1",
        "revision": "chat-a",
        "scheduledSeconds": 2,
        "imageSeconds": 48,
        "loadSeconds": 63,
        "totalSeconds": 113,
    }
    assert (ended["startup"]["slowestSeconds"], ended["startup"]["model"]) == (63, "pvc://models/tiny.gguf")
    assert "current" not in ended["startup"]
    assert again == ended


def test_each_step_of_a_rollout_is_one_event() -> None:
    life = a_life()
    assert events(*life) == ["Starting", "Loading", "Started"]
    event = startup_event(OWNER, life[3], life[4], NOW)
    assert event is not None
    assert event["type"] == "Normal"
    for words in ("scheduled 2s", "image 48s", "load 1m03s", "1m53s"):
        assert words in event["message"]


def test_a_thousand_replicas_are_told_as_one() -> None:
    first = a_life()[-1]
    many = [starting(name=f"chat-{number}", created=200, started=210) for number in range(2, 1002)]
    statuses = [first, told(many, first)]
    named = statuses[-1]["startup"]["current"]["pod"]
    for _ in range(3):
        statuses.append(told(many, statuses[-1]))
    ready = [pod if pod["metadata"]["name"] != named else ready_after(300, name=named, started=210) for pod in many]
    statuses.append(told(ready, statuses[-1], {named: UNTIMED}))
    assert events(*statuses) == []
    assert statuses[-1]["startup"]["last"]["pod"] == named
    assert len({str(status) for status in statuses}) == 3


def test_the_next_rollout_is_told_again_and_knows_how_long_the_last_took() -> None:
    before = a_life()[-1]
    pods = [ready_after(113), starting(name="chat-2", revision="chat-b", created=500)]
    after = told(pods, before)
    assert after["startup"]["current"]["pod"] == "chat-2"
    assert after["startup"]["last"] == before["startup"]["last"]
    event = startup_event(OWNER, before, after, NOW)
    assert event is not None
    assert "1m53s" in event["message"]


def test_a_start_has_not_ended_before_its_log_was_read() -> None:
    before = told([starting(started=50)])
    ready = ready_after(113, started=50)
    waits = told([ready], before, {})
    assert waits["startup"]["current"]["pod"] == "chat-1"
    assert "last" not in waits["startup"]
    ended = told([ready], waits, {"chat-1": StartTimes(loaded_at=at(100))})
    assert (ended["startup"]["last"]["loadSeconds"], ended["startup"]["last"]["warmUpSeconds"]) == (50, 13)


def flapped() -> Manifest:
    """A pod that was ready, is not any more, and was never restarted."""
    pod = starting(scheduled=0, started=0)
    pod["status"]["conditions"] = [condition("Ready", "False", 5000)]
    return pod


@pytest.mark.parametrize("pod", [ready_after(113), flapped(), starting(started=5, restarts=1)])
def test_what_was_ready_before_or_was_restarted_is_no_start(pod: Manifest) -> None:
    assert told([pod]) == {}


@pytest.mark.parametrize("pod", [flapped(), starting(started=5, restarts=1), ready_after(2000, restarts=1)])
def test_a_followed_pod_that_failed_is_let_go(pod: Manifest) -> None:
    after = told([pod], told([starting(started=50)]))
    assert (set(after["startup"]), events({}, after)) == ({"announced", "announcedRevision"}, ["Loading"])


def test_a_ready_time_that_no_start_can_have_is_not_believed() -> None:
    before = told([starting(started=50)])
    after = told([ready_after(9000, started=50)], before)
    assert {"last", "slowestSeconds", "current"} & after["startup"].keys() == set()


def test_only_pods_of_the_newest_revision_are_followed() -> None:
    old, new = starting(name="chat-0"), starting(name="chat-1", revision="chat-b", created=9)
    before = told([old])
    assert (followed_pod(before, [old]) or {})["metadata"]["name"] == "chat-0"
    assert (followed_pod(before, [old, new]) or {})["metadata"]["name"] == "chat-1"


def test_the_slowest_start_counts_for_as_long_as_the_model_stays() -> None:
    first = a_life()[-1]
    quick = told([ready_after(240, created=200, scheduled=200, started=210)], first | current_of(first))
    assert (quick["startup"]["slowestSeconds"], quick["startup"]["last"]["totalSeconds"]) == (63, 40)
    other = dataclasses.replace(a_plan(), model="hf://acme/other")
    changed = told([ready_after(240, created=200, scheduled=200, started=210)], first | current_of(first), plan=other)
    assert (changed["startup"]["slowestSeconds"], changed["startup"]["model"]) == (30, "hf://acme/other")


def current_of(status: Status) -> Status:
    """The status while another start of the same pod's name is followed."""
    return {"startup": {**status["startup"], "current": {"pod": "chat-1", "revision": "chat-a", "phase": "load"}}}


def test_a_start_is_counted_once() -> None:
    life = a_life()
    counted = [ended_start(before, after) for before, after in itertools.pairwise(life)]
    assert [phases for phases in counted if phases] == [{"scheduled": 2, "image": 48, "load": 63, "total": 113}]


@pytest.mark.parametrize("startup", [None, [], "x", {"last": 5, "current": "x", "announced": 7, "slowestSeconds": "9"}])
def test_a_status_that_somebody_else_wrote_is_no_obstacle(startup: Any) -> None:
    after = told([starting()], {"startup": startup})
    assert after["startup"]["current"]["pod"] == "chat-1"
    assert startup_event(OWNER, {"startup": startup}, after, NOW) is not None
    assert ended_start({"startup": startup}, {"startup": startup}) == {}


def test_the_autoscaler_expects_what_the_last_start_of_this_model_took_within_its_own_bound() -> None:
    status = a_life()[-1]
    assert known_cold_start(a_plan(), status) == 113
    assert known_cold_start(dataclasses.replace(a_plan(), model="hf://acme/other"), status) is None
    status["startup"]["last"]["totalSeconds"] = 90_000
    assert known_cold_start(a_plan(), status) == 1800
    assert known_cold_start(a_plan(), {}) is None


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(at(seconds), UTC)


def test_before_the_budget_is_used_up_the_field_to_raise_is_named_once() -> None:
    plan, pods, status = a_plan(), [starting(started=0)], a_life()[-1]
    assert seconds_to_news(plan, pods, moment(100)) == 380
    before, later, last = (how_to_wait(plan, pods, status, moment(second)) for second in (100, 480, 599))
    assert ("spec.startup.timeoutSeconds" in before, "1m53s" in before) == (False, True)
    assert ("spec.startup.timeoutSeconds" in later, "600" in later, later == last) == (True, True, True)
    assert seconds_to_news(plan, pods, moment(481)) == 119
    assert seconds_to_news(plan, pods, moment(601)) is None


def test_a_start_that_has_used_up_its_budget_is_named_and_what_to_do() -> None:
    pods = [starting(name="chat-2", started=100), starting(started=0), starting(name="chat-3", scheduled=9)]
    assert overdue(a_plan(), pods, moment(599)) is None
    first, later = (overdue(a_plan(), pods, moment(seconds)) for seconds in (600, 90_000))
    assert first == later
    assert first is not None
    assert first.reason == Reason.STARTUP_TIMED_OUT
    for words in ("chat-1", "600 s", "spec.startup.timeoutSeconds"):
        assert words in first.message


def test_each_start_is_overdue_when_none_is_left_that_may_still_be_in_time() -> None:
    first, second, waits = starting(started=0), starting(name="chat-2", started=100), starting(name="chat-3")
    assert [each_is_overdue(a_plan(), [first, second], moment(seconds)) for seconds in (650, 700)] == [False, True]
    assert not each_is_overdue(a_plan(), [first, waits], moment(9999))
    assert not each_is_overdue(a_plan(), [], moment(9999))


def test_of_a_start_that_the_kubelet_ends_it_is_said_before_and_nothing_is_overdue() -> None:
    plan, pods = of_an_earlier_operator(a_plan()), [starting(started=0)]
    assert (overdue(plan, pods, moment(601)), each_is_overdue(plan, pods, moment(601))) == (None, False)
    assert how_to_wait(plan, pods, {}, moment(599)) != how_to_wait(a_plan(), pods, {}, moment(599))


def test_a_start_that_outlasts_its_budget_is_learned_where_somebody_watched() -> None:
    pods, watched = [ready_after(2000)], told([starting(started=0)])
    late = [{"type": "Ready", "status": "False", "reason": "StartupTimedOut"}]
    assert "last" not in told(pods, watched)["startup"]
    assert told(pods, {**watched, "conditions": late})["startup"]["slowestSeconds"] == 2000


@pytest.mark.parametrize("pod", [starting(scheduled=1), ready_after(5), flapped()])
def test_only_engines_that_have_not_started_use_up_their_budget(pod: Manifest) -> None:
    assert seconds_to_news(a_plan(), [pod], moment(9)) is None
    assert overdue(a_plan(), [pod], moment(9999)) is None
    assert "spec.startup" not in how_to_wait(a_plan(), [pod], {}, moment(599))
