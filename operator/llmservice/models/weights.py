"""How large a model's weights are, from its files or its dimensions.

The closed form gives published sizes within 1 %: 14.96 GiB for Llama 3.1 8B (vLLM's log: 14.96), 86.99 for Mixtral 8x7B
(86.99), 5.68 for Qwen3-8B-AWQ (5.68). Engines add 0.2 to 0.5 % while they run.
"""

from dataclasses import dataclass

from llmservice.models.model_facts import ModelFacts
from llmservice.models.quantization import Quantization, Touches, is_own, quantization_of

_PLAIN_BYTES = 2


@dataclass(frozen=True, slots=True)
class WeightCounts:
    """Numbers of weights by what quantizations tell apart."""

    linear: int
    experts: int
    rest: int

    @property
    def total(self) -> int:
        """All weights."""
        return self.linear + self.experts + self.rest


def weight_counts(facts: ModelFacts) -> WeightCounts | None:
    """The weights of a decoder by its dimensions; None where one is unknown.

    layers x (attention + MLP + router) + vocabulary x hidden size (twice, unless tied) + norms. An MLP has three
    matrices. A vision tower is not counted. `parameters`, where known, decides the total: it differs where a model
    is built in another way (MLPs of two matrices, state spaces).
    """
    if not (facts.layers and facts.hidden_size and facts.vocabulary and facts.heads):
        return WeightCounts(linear=facts.parameters, experts=0, rest=0) if facts.parameters else None
    experts, rest = _routed(facts), _rest(facts)
    linear = facts.layers * _attention(facts) + _dense(facts) + _shared(facts)
    if not facts.parameters:
        return WeightCounts(linear=linear, experts=experts, rest=rest)
    experts = min(experts, max(0, facts.parameters - rest))
    return WeightCounts(linear=max(0, facts.parameters - rest - experts), experts=experts, rest=rest)


def weight_bytes(facts: ModelFacts, quantization: str = "") -> int | None:
    """Bytes of all weights as an engine holds them; None when nothing tells.

    `quantization` is what is asked for: empty or `auto` is the checkpoint as it is. Then the size of its files decides,
    where it is known: some checkpoints leave more at 16 bits than their name says.
    """
    if is_own(facts, quantization) and facts.file_bytes:
        return facts.file_bytes // 2 if _halved_on_load(facts) else facts.file_bytes
    method = quantization_of(facts, quantization)
    counts = weight_counts(facts) or _counts_of_plain_files(facts)
    return None if method is None or counts is None else quantized_bytes(counts, method)


def experts_share(facts: ModelFacts, quantization: str = "") -> float:
    """Which part of the bytes of the weights is in experts; all of them where a mixture's dimensions are not known."""
    counts, method = weight_counts(facts), quantization_of(facts, quantization)
    if facts.experts is None:
        return 0.0
    if counts is None or method is None or not counts.experts:
        return 1.0
    return counts.experts * method.bits / 8 / quantized_bytes(counts, method)


def quantized_bytes(counts: WeightCounts, method: Quantization) -> int:
    """Bytes of these weights: those that the method touches at its bits, the others at 16."""
    touched = {
        Touches.LINEAR: counts.linear + counts.experts,
        Touches.EXPERTS: counts.experts,
        Touches.EVERYTHING: counts.total,
    }[method.touches]
    return round(touched * method.bits / 8) + (counts.total - touched) * _PLAIN_BYTES


def _halved_on_load(facts: ModelFacts) -> bool:
    """Engines turn float32 into 16 bits unless told otherwise."""
    return facts.dtype == "float32" and not facts.quantization


def _counts_of_plain_files(facts: ModelFacts) -> WeightCounts | None:
    """The number of weights of a plain checkpoint of which nothing but the size is known."""
    if facts.quantization or not facts.file_bytes:
        return None
    size = 4 if facts.dtype == "float32" else _PLAIN_BYTES
    return WeightCounts(linear=facts.file_bytes // size, experts=0, rest=0)


def _attention(facts: ModelFacts) -> int:
    """Projections of one layer: queries, keys, values and output; low-rank ones for latent attention."""
    hidden, heads, latent = facts.hidden_size, facts.heads, facts.latent
    if latent is None:
        return hidden * _head_size(facts) * 2 * (heads + (facts.kv_heads or heads))
    query_size = heads * (latent.nope_size + latent.rope_size)
    queries = latent.query_rank * (hidden + query_size) if latent.query_rank else hidden * query_size
    down = hidden * (latent.rank + latent.rope_size)
    up = latent.rank * heads * (latent.nope_size + latent.value_size)
    return queries + down + up + heads * latent.value_size * hidden


def _head_size(facts: ModelFacts) -> int:
    return facts.head_size or facts.hidden_size // facts.heads


def _dense(facts: ModelFacts) -> int:
    layers = facts.experts.dense_layers if facts.experts else facts.layers
    return layers * 3 * facts.hidden_size * facts.intermediate_size


def _routed(facts: ModelFacts) -> int:
    experts = facts.experts
    return _sparse_layers(facts) * experts.count * _expert(facts) if experts else 0


def _shared(facts: ModelFacts) -> int:
    experts = facts.experts
    return _sparse_layers(facts) * experts.shared * _expert(facts) if experts else 0


def _expert(facts: ModelFacts) -> int:
    return 3 * facts.hidden_size * facts.experts.intermediate_size if facts.experts else 0


def _sparse_layers(facts: ModelFacts) -> int:
    return facts.layers - facts.experts.dense_layers if facts.experts else 0


def _rest(facts: ModelFacts) -> int:
    """Embeddings, output layer, two norms a layer and a last one, routers."""
    embeddings = facts.vocabulary * facts.hidden_size * (1 if facts.tied_embeddings else 2)
    norms = (2 * facts.layers + 1) * facts.hidden_size
    routers = _sparse_layers(facts) * facts.hidden_size * facts.experts.count if facts.experts else 0
    return embeddings + norms + routers
