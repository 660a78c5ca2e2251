"""The startup budget: what was learned of starts counts for the next facts, and for no others."""

import dataclasses
from typing import Any

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.loader import load_catalogue
from llmservice.planning.facts import RegistrySettings, choose_facts, facts_from_text, facts_to_text
from llmservice.planning.plan import plan_service
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.rendering.pod import pod_template
from tests.builders import an_llmservice
from tests.unit.planning.planned import facts_of, planned

URI = "pvc://models/tiny.gguf"


def learned(slowest: Any, model: Any = URI, **changes: Any) -> LLMService:
    """A resource whose status tells of starts."""
    startup = {"slowestSeconds": slowest, "model": model}
    return LLMService.parse({**an_llmservice(**changes), "status": {"startup": startup}})


def budget(service: LLMService) -> int:
    plan = CataloguePlanner(load_catalogue())(service)
    return plan.container.startup_seconds


@pytest.mark.parametrize(("slowest", "seconds"), [(5, 3600), (1200, 3600), (1201, 3603), (80_000, 86_400)])
def test_a_start_gets_three_times_the_slowest_where_that_is_more(slowest: int, seconds: int) -> None:
    assert budget(learned(slowest)) == seconds


def test_the_reason_names_the_slowest_start() -> None:
    plan = CataloguePlanner(load_catalogue())(learned(2000))
    (told,) = [each for each in plan.defaults if each.field == "startup.timeoutSeconds"]
    assert (told.value, "2000" in told.reason) == ("6000", True)


@pytest.mark.parametrize("startup", [None, "x", {}, {"slowestSeconds": 5000}])
def test_what_is_not_about_this_model_counts_for_nothing(startup: Any) -> None:
    service = LLMService.parse({**an_llmservice(), "status": {"startup": startup}})
    assert budget(service) == 3600
    assert budget(learned(5000, "pvc://models/other.gguf")) == 3600


@pytest.mark.parametrize("slowest", ["5000", True, -1, 0, 1.5, None])
def test_what_is_no_length_of_time_counts_for_nothing(slowest: Any) -> None:
    assert budget(learned(slowest)) == 3600


def test_kept_facts_stay_as_they_are_whatever_is_learned() -> None:
    plan = planned()
    status = {"plan": {"generation": 1, "facts": plan.facts}, "startup": {"slowestSeconds": 9000, "model": URI}}
    service = LLMService.parse({**an_llmservice(), "status": status})
    planner = CataloguePlanner(load_catalogue())
    again = planner(service)
    assert (again.facts, again.container.startup_seconds) == (plan.facts, 3600)
    assert planner.newest(service, again) is None


def test_what_was_learned_counts_from_the_next_edit_on_and_changes_no_pod() -> None:
    plan = planned()
    status = {"plan": {"generation": 1, "facts": plan.facts}, "startup": {"slowestSeconds": 9000, "model": URI}}
    service = LLMService.parse({**an_llmservice(metadata__generation=2), "status": status})
    edited = CataloguePlanner(load_catalogue())(service)
    assert edited.container.startup_seconds == 27_000
    assert edited.rollout.progress_deadline_seconds > 27_000
    assert pod_template(edited) == pod_template(plan)


def test_the_budget_that_the_user_sets_is_no_part_of_the_pods() -> None:
    plans = [planned(spec__startup=startup) for startup in ({}, {"timeoutSeconds": 10}, {"timeoutSeconds": 86_400})]
    assert [plan.container.startup_seconds for plan in plans] == [3600, 10, 86_400]
    assert pod_template(plans[0]) == pod_template(plans[1]) == pod_template(plans[2])


@pytest.mark.parametrize("version", [1, 2])
def test_an_older_rendering_keeps_the_probe_that_ends_a_late_start(version: int) -> None:
    older = dataclasses.replace(facts_of(), render_version=version)
    container = plan_service(LLMService.parse(an_llmservice()), older).container
    probe = container.probes.startup
    assert probe.period_seconds * probe.failures == container.startup_seconds


def test_facts_of_which_nothing_was_learned_are_written_as_before() -> None:
    assert "slowest_start" not in facts_to_text(facts_of())
    service = learned(1500)
    facts = choose_facts(service, load_catalogue(), RegistrySettings(), "", kept=None)
    text = facts_to_text(facts)
    assert facts_from_text(text) == facts
    assert plan_service(service, facts).facts == text


def test_an_older_rendering_keeps_its_shorter_budget() -> None:
    older = dataclasses.replace(facts_of(), render_version=1)
    assert plan_service(LLMService.parse(an_llmservice()), older).container.startup_seconds == 900
