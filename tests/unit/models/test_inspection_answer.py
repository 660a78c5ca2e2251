"""The answer of an inspection: written in 4 kB, and read as a text that anybody may have written."""

import json
from typing import Any

import pytest

from llmservice.models.hugging_face_config import facts_of_config
from llmservice.models.inspection_answer import MOST_BYTES, answer_of, answer_text, facts_in
from llmservice.models.inspection_failure import FailureReason, InspectionFailure
from llmservice.models.model_facts import Experts, LatentAttention, ModelFacts, Task
from tests.unit.models import configs

EVERYTHING = ModelFacts(
    architecture="A" * 128,
    task=Task.GENERATE,
    longest_context=2**30,
    layers=10_000,
    hidden_size=2**26,
    intermediate_size=2**26,
    heads=2**26,
    kv_heads=2**26,
    head_size=2**26,
    vocabulary=2**26,
    tied_embeddings=False,
    experts=Experts(count=10_000, active=10_000, intermediate_size=2**26, shared=10_000, dense_layers=10_000),
    latent=LatentAttention(rank=2**26, rope_size=2**26, query_rank=2**26, nope_size=2**26, value_size=2**26),
    sliding_window=2**26,
    sliding_layers=5_000,
    linear_layers=5_000,
    parameters=2**50,
    file_bytes=2**53,
    quantization="q" * 128,
    quantization_bits=8,
    quantization_group=2**26,
    dtype="bfloat16",
    gated=True,
)


@pytest.mark.parametrize("facts", [EVERYTHING, ModelFacts(), *map(facts_of_config, configs.BY_MODEL.values())])
def test_facts_come_back_as_they_went(facts: ModelFacts) -> None:
    text = answer_text(answer_of("hf://owner/name", "c" * 40, facts))
    assert facts_in(text) == facts


@pytest.mark.parametrize("reason", FailureReason)
def test_a_failure_comes_back_with_its_remedy(reason: FailureReason) -> None:
    failure = InspectionFailure(reason, "owner/name: no")
    answer = answer_of("hf://owner/name", "", failure)
    assert facts_in(answer_text(answer)) == failure
    assert answer["failure"]["remedy"] == failure.remedy
    assert len(failure.remedy) > 20


def test_an_answer_never_has_more_than_a_termination_message_holds() -> None:
    longest = InspectionFailure(FailureReason.GATED, "\N{GREEK SMALL LETTER OMEGA}\x1b" * 10_000)
    for result in (EVERYTHING, longest):
        text = answer_text(answer_of("\N{GREEK SMALL LETTER OMEGA}" * 5000, "c" * 40, result))
        assert len(text.encode()) <= MOST_BYTES
        assert type(facts_in(text)) is type(result)


def test_keys_are_in_camel_case_and_what_is_unknown_is_left_out() -> None:
    answer = answer_of("m", "", facts_of_config(configs.QWEN3_30B_A3B))
    assert answer["facts"]["longestContext"] == 40960
    assert answer["facts"]["experts"] == {"count": 128, "active": 8, "intermediateSize": 768}
    assert answer["facts"]["tiedEmbeddings"] is False
    assert "latent" not in answer["facts"]
    assert "revision" not in answer


def test_what_a_newer_inspection_tells_beside_it_is_passed_over() -> None:
    assert facts_in('{"facts": {"layers": 3, "colour": "blue"}, "more": []}') == ModelFacts(layers=3)


FOREIGN: list[Any] = [
    *({}, [], None, 5, "x", {"facts": None}, {"facts": []}, {"facts": {"layers": -1}}, {"facts": {"layers": 10**30}}),
    *({"facts": {"layers": [1]}}, {"facts": {"layers": "many"}}, {"facts": {"task": "Rule"}}),
    *({"facts": {"architecture": "a b\x1b[31m"}}, {"facts": {"architecture": "a" * 500}}),
    *({"facts": {"experts": {"count": 5}}}, {"facts": {"experts": {"count": -1, "active": 1, "intermediateSize": 1}}}),
    *({"failure": {"reason": "Nonsense"}}, {"failure": {"reason": ["Gated"]}}, {"facts": {"layers": float("nan")}}),
]


@pytest.mark.parametrize("answer", FOREIGN, ids=str)
def test_a_foreign_answer_is_a_failure_and_never_an_error(answer: object) -> None:
    found = facts_in(json.dumps(answer))
    assert isinstance(found, InspectionFailure)
    assert found.reason is FailureReason.NOT_A_MODEL
    assert len(found.message) < 200


@pytest.mark.parametrize("text", ["", "{", "[" * 4000, '{"facts":' * 450, "x" * 10**6, '{"facts":' + "9" * 4000 + "}"])
def test_a_text_that_is_no_answer_is_a_failure_and_never_an_error(text: str) -> None:
    assert isinstance(facts_in(text), InspectionFailure)


def test_a_foreign_message_is_cut_and_made_printable() -> None:
    text = json.dumps({"failure": {"reason": "Gated", "message": "\x1b]0;x\x07" + "y" * 3000}})
    found = facts_in(text)
    assert isinstance(found, InspectionFailure)
    assert found.message.isprintable()
    assert len(found.message) < 600
