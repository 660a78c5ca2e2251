"""Where facts of a model come from, and that a generation keeps them."""

from dataclasses import replace

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import load_catalogue, shipped_models
from llmservice.models.model_facts import NOTHING_KNOWN, ModelFacts
from llmservice.planning.facts import RegistrySettings, choose_facts, facts_from_text, facts_to_text
from llmservice.planning.known_model import KnownModel, repository_of
from tests.builders import an_llmservice
from tests.unit.planning.knowing import LLAMA_8B, SMALL_FACTS, stated, vllm
from tests.unit.planning.planned import facts_of, refused

_INSPECTED = KnownModel(ModelFacts(layers=7, longest_context=4096), "inspection")


def _known(changes: dict[str, object], catalogue: Catalogue | None = None, **given: object) -> tuple[str, int]:
    service = LLMService.parse(an_llmservice(**changes))
    facts = choose_facts(service, catalogue or load_catalogue(), RegistrySettings(), "", kept=None, **given)  # type: ignore[arg-type]
    return facts.model_source, facts.model.layers


def test_each_source_in_its_turn() -> None:
    assert _known(vllm()) == ("catalogue", 32)
    assert _known(vllm(f"hf://{LLAMA_8B}")) == ("catalogue", 32)
    assert _known(vllm("acme/own")) == ("nothing", 0)
    assert _known(vllm("acme/own"), model=_INSPECTED) == ("inspection", 7)
    assert _known(stated(SMALL_FACTS)) == ("spec", 24)
    assert _known(vllm(LLAMA_8B, model__facts={"layers": 3})) == ("spec", 3)


def test_a_claim_named_like_a_repository_is_not_in_the_catalogue() -> None:
    assert repository_of(f"pvc://{LLAMA_8B}") == ""
    assert _known({"spec__model__uri": f"pvc://models/{LLAMA_8B}"}) == ("nothing", 0)


def test_a_repository_in_a_cache_of_the_hub_on_a_claim_is() -> None:
    uri = f"pvc://models/hub?repo={LLAMA_8B}"
    assert repository_of(uri) == LLAMA_8B
    assert _known({"spec__model__uri": uri, "spec__engine": "vllm"}) == ("catalogue", 32)


def test_administrators_rows_win() -> None:
    models = shipped_models().overlaid({"models": [{"id": LLAMA_8B, "layers": 5}]})
    assert _known(vllm(), replace(load_catalogue(), models=models)) == ("catalogue", 5)


def test_what_cannot_be_true_is_refused_by_name() -> None:
    problem = refused(**stated({"layers": 2, "slidingLayers": 3, "slidingWindow": 10}))
    assert (problem.reason, problem.field) == (Reason.INVALID_SPEC, "spec.model.facts")


def test_the_facts_of_a_generation_stay() -> None:
    facts = facts_of(**stated(SMALL_FACTS | {"experts": {"count": 8, "active": 2, "intermediateSize": 64}}))
    kept = facts_from_text(facts_to_text(facts))
    assert kept == facts
    assert facts.model.experts is not None


def test_an_unknown_model_costs_nothing_in_the_status() -> None:
    assert facts_of(**vllm("acme/own")).model == NOTHING_KNOWN
    assert '"model":{}' in facts_to_text(facts_of(**vllm("acme/own")))
