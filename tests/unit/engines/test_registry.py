"""The registry: by name, in order, with a hint for the misspelled."""

import pytest

from llmservice.catalog.loader import load_catalogue
from llmservice.engines.registry import ENGINES, engine_named
from llmservice.errors import InvalidSpec


def test_engines_are_sorted_and_known_by_their_own_name() -> None:
    assert list(ENGINES) == sorted(ENGINES)
    assert [name for name, engine in ENGINES.items() if engine.name != name] == []


def test_every_engine_has_rows_in_the_catalogue_and_every_row_its_engine() -> None:
    assert sorted(load_catalogue().engines) == list(ENGINES)


def test_an_unknown_engine_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.engine: LLamaCpp .* llamacpp") as caught:
        engine_named("LLamaCpp")
    assert caught.value.reason == "UnknownEngine"
    assert [name for name in ("tgi", "vllm") if name in caught.value.message] == []


def test_without_a_near_name_all_are_named() -> None:
    with pytest.raises(InvalidSpec, match=", ".join(ENGINES)):
        engine_named("trtllm")
