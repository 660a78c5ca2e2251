"""The models of the catalogue: every row read, with its source; and rows of one's own."""

import pytest

from llmservice.catalog.loader import shipped_models, shipped_table
from llmservice.catalog.model_rows import known_models
from llmservice.catalog.rows import MODELS_FILE
from llmservice.errors import InvalidCatalogue
from llmservice.models.kv_cache import kv_cache
from llmservice.models.sizes import GIB
from llmservice.models.weights import weight_bytes, weight_counts

MODELS = shipped_models()


@pytest.mark.parametrize("name", MODELS.names)
def test_every_row_tells_weights_and_cache(name: str) -> None:
    facts = MODELS.facts(name)
    assert facts is not None
    assert weight_bytes(facts) is not None
    assert kv_cache(facts) is not None


def test_every_row_names_the_sources_of_its_numbers() -> None:
    table = shipped_table(MODELS_FILE)
    for row in table["models"]:
        assert "like" in row or row["dimensions_from"] in table["sources"], row["id"]
        assert ("file_gib" in row) == ("size_from" in row), row["id"]
        assert row.get("size_from", "hub") in table["sources"], row["id"]


@pytest.mark.parametrize("name", [row["id"] for row in shipped_table(MODELS_FILE)["models"] if "file_gib" in row])
def test_sizes_of_plain_files_and_dimensions_agree(name: str) -> None:
    """Within 4 %: vision towers and layers for multi-token prediction are in the files, not in the closed form."""
    facts = MODELS.facts(name)
    assert facts is not None
    counts = weight_counts(facts)
    assert counts is not None
    if not facts.quantization:
        assert counts.total * 2 == pytest.approx(facts.file_bytes, rel=0.1 if "gemma-3-4b" in name else 0.04)


def test_names_are_read_without_regard_to_case_and_by_alias() -> None:
    facts = MODELS.facts("meta-llama/Llama-3.1-8B-Instruct")
    assert MODELS.facts("META-LLAMA/llama-3.1-8b") == facts is not None
    assert MODELS.facts("nobody/nothing") is None


def test_a_variant_is_like_its_model_but_for_what_is_written() -> None:
    base, variant = MODELS.facts("Qwen/Qwen3-4B"), MODELS.facts("Qwen/Qwen3-4B-Instruct-2507")
    assert base is not None
    assert variant is not None
    assert (base.longest_context, variant.longest_context) == (40_960, 262_144)
    assert (base.layers, base.vocabulary) == (variant.layers, variant.vocabulary)


def test_what_was_not_looked_up_is_unknown() -> None:
    hermes, base = MODELS.facts("NousResearch/Hermes-3-Llama-3.1-8B"), MODELS.facts("Qwen/Qwen2.5-7B")
    assert hermes is not None
    assert base is not None
    assert hermes.gated is None
    assert base.longest_context == 0


def test_an_overlay_adds_and_replaces() -> None:
    over = MODELS.overlaid(
        {
            "models": [
                {"id": "our/model", "like": "Qwen/Qwen3-8B", "file_gib": 9.5, "quantization": "fp8"},
                {"id": "qwen/qwen3-8b", "parameters": 5},
            ]
        }
    )
    ours, replaced = over.facts("Our/Model"), over.facts("Qwen/Qwen3-8B")
    assert ours is not None
    assert replaced is not None
    assert (ours.layers, ours.file_bytes, ours.quantization) == (36, round(9.5 * GIB), "fp8")
    assert (replaced.layers, replaced.parameters) == (0, 5)
    assert len(over.names) == len(MODELS.names) + 1
    assert MODELS.facts("our/model") is None


def test_a_row_is_read_when_it_is_asked_for() -> None:
    models = known_models({"models": [{"id": "a/b", "layers": 5}, {"id": "c/d", "laiers": 5}]})
    assert models.facts("a/b") is not None
    with pytest.raises(InvalidCatalogue, match=r"c/d: .* laiers"):
        models.facts("c/d")


def test_weights_in_other_bits_have_files_of_their_own() -> None:
    table = {
        "models": [
            {"id": "a/b", "layers": 5, "file_gib": 8, "size_from": "hub"},
            {"id": "a/b-awq", "like": "a/b", "quantization": "awq"},
            {"id": "a/b-long", "like": "a/b", "longest_context": 131_072},
        ]
    }
    models = known_models(table)
    found = [models.facts(name) for name in models.names]
    assert [facts.file_bytes for facts in found if facts] == [8 * GIB, 0, 8 * GIB]
