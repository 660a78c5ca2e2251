"""Plans of generations: what is pinned, what is inspected, and which devices are taken."""

import dataclasses
from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.loader import load_catalogue
from llmservice.errors import InvalidSpec
from llmservice.models.model_facts import ModelFacts
from llmservice.models.plausible import limit_of
from llmservice.objects.names import UPDATE_ANNOTATION
from llmservice.planning.facts import facts_from_text
from llmservice.planning.known_model import KnownModel
from llmservice.planning.service_plan import Owner, ServicePlan
from llmservice.reconcilers import current_plans
from llmservice.reconcilers.current_plans import CurrentPlans
from llmservice.reconcilers.planner import CataloguePlanner
from tests.builders import an_llmservice
from tests.unit.converging.plans import a_plan
from tests.unit.planning.knowing import LLAMA_8B, LLAMA_70B, vllm

_PLANNER = CataloguePlanner(load_catalogue())
_HUGE = KnownModel(ModelFacts(file_bytes=200 * 2**30, dtype="bfloat16"), "inspection")


def a_service(**changes: Any) -> LLMService:
    return LLMService.parse(an_llmservice(**changes))


def planned_before(plan: ServicePlan, generation: int = 1, **changes: Any) -> LLMService:
    status = {"plan": {"generation": generation, "facts": plan.facts}}
    return LLMService.parse({**an_llmservice(**changes), "status": status})


def with_alternatives(uri: str, first: str, *others: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return vllm(uri, **spec) | {"spec__gpu": {"type": first, "alternatives": list(others)}}


def test_what_an_inspection_found_is_kept_with_the_plan() -> None:
    changes = vllm("acme/own", "H100", fit="Warn")
    plan = _PLANNER(a_service(**changes), _HUGE)
    again = _PLANNER(planned_before(plan, **changes))
    facts = facts_from_text(again.facts)
    assert facts is not None
    assert (facts.model_source, facts.model.file_bytes) == ("inspection", 200 * 2**30)


def test_what_does_not_fit_by_an_inspection_is_refused() -> None:
    with pytest.raises(InvalidSpec) as caught:
        _PLANNER(a_service(**vllm("acme/own", "L4")), _HUGE)
    assert caught.value.reason is Reason.DOES_NOT_FIT


def test_an_accepted_generation_goes_on() -> None:
    plan = _PLANNER(a_service(**vllm(LLAMA_70B, "T4", fit="Warn")))
    assert _PLANNER(planned_before(plan, **vllm(LLAMA_70B, "T4"))).accelerator == "T4"
    with pytest.raises(InvalidSpec):
        _PLANNER(planned_before(plan, generation=0, **vllm(LLAMA_70B, "T4")))


def test_the_first_type_that_fits_is_taken_and_the_others_are_told() -> None:
    plan = _PLANNER(a_service(**with_alternatives(LLAMA_70B, "T4", {"type": "L4"}, {"type": "H100", "count": 4})))
    assert (plan.accelerator, plan.devices) == ("H100", 4)
    assert [note.split()[0] for note in plan.notes[:2]] == ["T4", "L4"]
    assert plan.container.resource_limits == {"nvidia.com/gpu": "4"}
    assert "--tensor-parallel-size=4" in plan.container.args


def test_a_type_that_the_version_has_no_image_for_is_passed_over() -> None:
    plan = _PLANNER(a_service(**with_alternatives(LLAMA_8B, "Gaudi2", {"type": "L4"})))
    assert plan.accelerator == "L4"
    assert plan.notes[0].startswith("Gaudi2")


def test_when_none_fits_each_is_named() -> None:
    with pytest.raises(InvalidSpec) as caught:
        _PLANNER(a_service(**with_alternatives(LLAMA_70B, "T4", {"type": "L4"})))
    assert caught.value.reason is Reason.DOES_NOT_FIT
    assert [line.split()[0] for line in caught.value.message.splitlines()] == ["spec.gpu:", "L4"]


def test_the_next_alternative_is_taken_when_there_is_no_room() -> None:
    changes = with_alternatives(LLAMA_8B, "L4", {"type": "T4"}, {"type": "A10G"})
    service = a_service(**changes)
    plan = _PLANNER(service)
    following = _PLANNER.next_choice(service, plan, "no node for 5 min")
    assert following is not None
    assert (plan.accelerator, following.accelerator) == ("L4", "A10G")
    assert [note.split()[0] for note in following.notes[:2]] == ["L4", "T4"]
    assert _PLANNER(planned_before(following, **changes)).accelerator == "A10G"
    assert _PLANNER.next_choice(service, following, "no node for 5 min") is None


def test_the_next_generation_begins_with_the_first_again() -> None:
    changes = with_alternatives(LLAMA_8B, "L4", {"type": "A10G"})
    following = _PLANNER.next_choice(a_service(**changes), _PLANNER(a_service(**changes)), "no node")
    assert following is not None
    assert _PLANNER(planned_before(following, generation=0, **changes)).accelerator == "L4"


def test_a_mistake_is_not_passed_over() -> None:
    with pytest.raises(InvalidSpec) as caught:
        _PLANNER(a_service(**with_alternatives(LLAMA_8B, "L44", {"type": "L4"})))
    assert caught.value.reason is Reason.UNKNOWN_ACCELERATOR


def test_the_newest_plan_keeps_what_was_inspected_and_chosen() -> None:
    changes = with_alternatives("acme/own", "L4", {"type": "H100"}, fit="Warn")
    service = a_service(**changes)
    plan = _PLANNER.next_choice(service, _PLANNER(service, _HUGE), "no node")
    assert plan is not None
    assert CataloguePlanner(load_catalogue()).newest(service, plan) is None


def test_a_plan_is_compared_with_the_current_facts_once_for_each_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    planner, service = CataloguePlanner(load_catalogue()), a_service(**vllm())
    plan = planner(service)
    assert planner.newest(service, plan) is None
    with monkeypatch.context() as patch:
        patch.setattr("llmservice.reconcilers.planner.choose_facts", lambda *_, **__: pytest.fail("compared again"))
        assert planner.newest(service, plan) is None
    planner.platform = "gke"
    assert planner.newest(service, plan) is not None
    older = dataclasses.replace(plan, facts=plan.facts.replace("131072", "4096"))
    planner.platform = ""
    assert planner.newest(service, older) is not None


def test_what_is_remembered_of_plans_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_plans, "_MOST", 3)
    plans, basis = CurrentPlans(), (object(),)
    for number in range(7):
        plans.add(a_plan(owner=Owner(namespace="ml", name="chat", uid=f"u-{number}", generation=1)), basis)
        assert 0 < len(plans._plans) <= 3
    assert not plans.has(a_plan(owner=Owner(namespace="ml", name="chat", uid="", generation=1)), basis)


def test_the_largest_facts_that_a_tenant_can_bring_about_are_such_as_the_schema_takes() -> None:
    words: dict[str, Any] = dict.fromkeys(("architecture", "quantization", "dtype"), "x" * 128)
    counted = [field.name for field in dataclasses.fields(ModelFacts) if field.type == "int"]
    numbers: dict[str, Any] = {name: limit_of(name) for name in counted if "layers" not in name}
    largest = ModelFacts(**words, **numbers)
    known = KnownModel(dataclasses.replace(largest, layers=10_000, gated=False), "inspection", '"' * 900)
    own = {"image": "own/image:1", "version": "0.33.0", "args": [f"--{number}-{'x' * 60}" for number in range(128)]}
    others = [{"type": name} for name in ("A10G", "L40S", "H100", "A100-80GB")]
    service = a_service(
        **with_alternatives("acme/own", "L4", *others, fit="Ignore", engineOptions=own),
        metadata__annotations={UPDATE_ANNOTATION: "\x01" * 256},
    )
    plan = _PLANNER(service, known)
    for _ in others:
        following = _PLANNER.next_choice(service, plan, '"' * 5000)
        assert following is not None
        plan = following
    assert 8000 < len(plan.facts) <= 16_384
