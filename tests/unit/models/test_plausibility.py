"""Facts that cannot be true of any model are named."""

import pytest

from llmservice.catalog.loader import shipped_models
from llmservice.models.model_facts import Experts, LatentAttention, ModelFacts
from llmservice.models.plausible import implausible


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (ModelFacts(layers=-1), "layers is -1, which no model has"),
        (ModelFacts(layers=10_001), "layers is 10001, which no model has"),
        (ModelFacts(parameters=10**16), "parameters is 10000000000000000, which no model has"),
        (ModelFacts(latent=LatentAttention(rank=-5, rope_size=0)), "latent.rank is -5, which no model has"),
        (
            ModelFacts(layers=2, experts=Experts(count=8, active=2, intermediate_size=4, dense_layers=3)),
            "experts.dense_layers are more than the 2 layers",
        ),
        (
            ModelFacts(layers=4, sliding_layers=3, linear_layers=2, sliding_window=8),
            "sliding_layers and linear_layers are more than the 4 layers",
        ),
        (ModelFacts(layers=4, sliding_layers=3), "sliding_layers have no sliding_window"),
    ],
)
def test_says_what_cannot_be(facts: ModelFacts, said: str) -> None:
    assert implausible(facts) == said


def test_nothing_is_said_against_what_is_unknown_or_known() -> None:
    assert implausible(ModelFacts()) == ""
    models = shipped_models()
    facts = {name: models.facts(name) for name in models.names}
    assert {name: implausible(each) for name, each in facts.items() if each and implausible(each)} == {}
