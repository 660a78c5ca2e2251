"""Stated facts are the facts of a model, name by name."""

from dataclasses import fields

from pydantic import BaseModel

from llmservice.api.v1alpha1.model_facts import StatedExperts, StatedFacts, StatedLatentAttention
from llmservice.models.inspection_answer import facts_as_json
from llmservice.models.model_facts import Experts, LatentAttention, ModelFacts, Task


def _names(stated: type[BaseModel]) -> list[str]:
    return list(stated.model_fields)


def test_every_fact_can_be_stated() -> None:
    assert sorted(_names(StatedFacts)) == sorted(field.name for field in fields(ModelFacts))
    assert sorted(_names(StatedExperts)) == sorted(field.name for field in fields(Experts))
    assert sorted(_names(StatedLatentAttention)) == sorted(field.name for field in fields(LatentAttention))


def test_what_an_inspection_prints_can_be_pasted() -> None:
    facts = ModelFacts(
        architecture="DeepseekV3ForCausalLM",
        task=Task.GENERATE,
        longest_context=163_840,
        layers=61,
        heads=128,
        experts=Experts(count=256, active=8, intermediate_size=2048, shared=1, dense_layers=3),
        latent=LatentAttention(rank=512, rope_size=64, query_rank=1536, nope_size=128, value_size=128),
        tied_embeddings=False,
        quantization="fp8",
        dtype="bfloat16",
    )
    assert StatedFacts.model_validate(facts_as_json(facts), by_alias=True, by_name=False).as_facts() == facts


def test_nothing_stated_is_nothing_known() -> None:
    assert StatedFacts().as_facts() == ModelFacts()
