"""Facts of models for tests: the catalogue's."""

from llmservice.catalog.loader import shipped_models
from llmservice.models.model_facts import ModelFacts


def known(name: str) -> ModelFacts:
    facts = shipped_models().facts(name)
    assert facts is not None, name
    return facts
