"""Whether facts that somebody wrote can be true of any model."""

from dataclasses import fields

from llmservice.models.model_facts import ModelFacts

_MOST = 10**15
"""No number of a model is as large: not its bytes, not its weights."""
_MOST_LAYERS = 10_000


def implausible(facts: ModelFacts) -> str:
    """What cannot be, as a sentence without an end; empty when nothing stands out."""
    numbers = [*_numbers(facts, ""), *_numbers(facts.experts, "experts."), *_numbers(facts.latent, "latent.")]
    for name, number in numbers:
        if not 0 <= number <= _MOST:
            return f"{name} is {number}, which no model has"
    if facts.layers > _MOST_LAYERS:
        return f"layers is {facts.layers}, which no model has"
    if facts.sliding_layers + facts.linear_layers > facts.layers:
        return f"sliding_layers and linear_layers are more than the {facts.layers} layers"
    if facts.experts and facts.experts.dense_layers > facts.layers:
        return f"experts.dense_layers are more than the {facts.layers} layers"
    if facts.sliding_layers and not facts.sliding_window:
        return "sliding_layers have no sliding_window"
    return ""


def _numbers(value: object, prefix: str) -> list[tuple[str, int]]:
    if value is None:
        return []
    named = [(field.name, getattr(value, field.name)) for field in fields(value)]  # type: ignore[arg-type]
    return [(prefix + name, number) for name, number in named if type(number) is int]
