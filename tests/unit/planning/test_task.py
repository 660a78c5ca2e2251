"""What a model is asked for: found out, said, refused, and what follows from it."""

import dataclasses
from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.loader import load_catalogue
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec
from llmservice.models.model_facts import ModelFacts, Task
from llmservice.planning.plan import plan_service
from llmservice.planning.service_plan import ServicePlan
from tests.builders import an_llmservice
from tests.unit.planning.planned import L4, default_of, facts_of, planned, refused

EMBEDDER: dict[str, Any] = {
    "spec__model": {"uri": "hf://acme/embedder", "facts": {"task": "Embed", "architecture": "XLMRobertaModel"}}
}
VLLM: dict[str, Any] = {"spec__engine": "vllm", **L4}


FROM_THE_HUB = [
    name
    for name, engine in ENGINES.items()
    if "hf" in engine.capabilities.schemes and "cuda" in load_catalogue().engine_version(name, None).images
]


def known(*, accepted: bool = False, render_version: int | None = None, **changes: Any) -> ServicePlan:
    """The plan of a resource whose model is an embedder, as an inspection says."""
    service = LLMService.parse(an_llmservice(**changes))
    facts = dataclasses.replace(facts_of(**changes), model=ModelFacts(task=Task.EMBED), model_source="inspection")
    if render_version is not None:
        facts = dataclasses.replace(facts, render_version=render_version)
    return plan_service(service, facts, accepted=accepted)


def test_what_the_resource_says_beats_what_is_known() -> None:
    model = {**EMBEDDER["spec__model"], "task": "Rerank"}
    assert planned(spec__model=model, **VLLM).task is Task.RERANK


def test_what_is_known_is_told_as_a_default() -> None:
    plan = planned(**EMBEDDER, **VLLM)
    assert (plan.task, default_of(plan, "model.task")) == (Task.EMBED, "Embed")


def test_a_model_of_which_nothing_is_known_generates() -> None:
    plan = planned(spec__model__uri="hf://acme/unknown", **VLLM)
    assert (plan.task, default_of(plan, "model.task")) == (Task.GENERATE, "")


@pytest.mark.parametrize("task", Task)
@pytest.mark.parametrize("engine", FROM_THE_HUB)
def test_an_engine_serves_the_tasks_that_it_names_and_no_other(engine: str, task: Task) -> None:
    changes = {"spec__engine": engine, "spec__model": {"uri": "hf://acme/model", "task": task.value}, **L4}
    if task in ENGINES[engine].capabilities.tasks:
        assert planned(**changes).task is task
        return
    refusal = refused(**changes)
    assert (refusal.reason, refusal.field) == (Reason.UNSUPPORTED_TASK, "spec.model.task")
    can = [name for name, other in ENGINES.items() if task in other.capabilities.tasks]
    assert all(name in str(refusal) for name in (engine, *can))


def test_a_mismatch_that_was_found_out_names_the_engine() -> None:
    refusal = refused(spec__engine="tgi", **EMBEDDER, **L4)
    assert (refusal.reason, refusal.field) == (Reason.UNSUPPORTED_TASK, "spec.engine")
    assert "spec.model.task" in str(refusal)


def test_what_was_accepted_before_is_not_refused_for_what_is_known_now() -> None:
    changes = {"spec__engine": "tgi", "spec__model__uri": "hf://acme/embedder", **L4}
    with pytest.raises(InvalidSpec):
        known(**changes)
    assert known(accepted=True, **changes).engine == "tgi"


def test_an_earlier_render_version_takes_every_model_for_one_that_generates() -> None:
    plan = known(render_version=2, accepted=True, **{"spec__model__uri": "hf://acme/embedder", **VLLM})
    assert plan.task is Task.GENERATE


def test_an_image_of_ones_own_may_serve_what_the_engine_does_not() -> None:
    image = {"image": "registry.example/tgi:embeds", "version": "3.3.5"}
    user = {"runAsUser": 1000}
    plan = planned(spec__engine="tgi", spec__engineOptions=image, spec__pod={"securityContext": user}, **EMBEDDER, **L4)
    assert plan.task is Task.EMBED


@pytest.mark.parametrize("task", ["Embed", "Rerank"])
def test_a_model_that_generates_nothing_is_scaled_by_its_requests(task: str) -> None:
    model = {"uri": "hf://acme/model", "task": task}
    scaling = planned(spec__model=model, spec__autoscaling={"maxReplicas": 3}, **VLLM).scaling
    assert scaling is not None
    names = scaling.metric_names
    assert names.running
    assert names.waiting
    assert (names.kv_use, names.ttft, names.inter_token_latency, names.generated_tokens) == ((), (), (), ())
    assert "kv_use" in names.substitutes


def test_a_target_of_the_kv_cache_is_refused_where_there_is_none() -> None:
    targets = {"maxReplicas": 3, "policy": "Threshold", "targets": {"kvCachePercent": 80}}
    model = {"uri": "hf://acme/model", "task": "Embed"}
    assert refused(spec__model=model, spec__autoscaling=targets, **VLLM).reason is Reason.UNSUPPORTED_FIELD


def test_the_prompt_of_an_unknown_embedder_is_shorter_than_that_of_a_chat_model() -> None:
    """It is computed in one step, for which memory is taken at the start."""
    chat = planned(spec__model__uri="hf://acme/m-GGUF", **L4)
    embedder = planned(spec__model={"uri": "hf://acme/m-GGUF", "task": "Embed"}, **L4)
    assert (chat.max_model_len, embedder.max_model_len) == (8192, 2048)
