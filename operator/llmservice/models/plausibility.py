"""Whether facts that somebody wrote can be true of any model."""

from operator import attrgetter

from llmservice.models.model_facts import ModelFacts
from llmservice.models.plausible import implausible_in, shown


def implausible(facts: ModelFacts) -> str:
    """What cannot be, as a sentence without an end; empty when nothing stands out."""
    if field := implausible_in(facts):
        return f"{field} is {shown(attrgetter(field)(facts))}, which no model has"
    if facts.sliding_layers + facts.linear_layers > facts.layers:
        return f"sliding_layers and linear_layers are more than the {facts.layers} layers"
    if facts.experts and facts.experts.dense_layers > facts.layers:
        return f"experts.dense_layers are more than the {facts.layers} layers"
    if facts.sliding_layers and not facts.sliding_window:
        return "sliding_layers have no sliding_window"
    return ""
