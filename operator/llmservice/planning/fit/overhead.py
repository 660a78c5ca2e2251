"""What an engine takes on each device beside weights and KV cache.

The figures stand with each engine (engines/memory_use.py) and nothing is bent for one model: steps are within 5 % for
dense models, +29 % for Mixtral and -18 % for Qwen3-30B-A3B, on 13 runs of vLLM 0.19 on H100 (llm-d-planner's logs). The
optimistic estimate has only what no start can do without.
"""

from dataclasses import dataclass

from llmservice.models.model_facts import ModelFacts
from llmservice.models.sizes import GIB
from llmservice.planning.fit.setup import Setup


@dataclass(frozen=True, slots=True)
class Overhead:
    """Bytes on each device, by the optimistic and by the careful estimate."""

    optimistic: float
    careful: float


_CONTEXT_GIB = 0.3
"""Libraries and buffers outside the engine's own pools on one device: 0.25 to 0.27 in vLLM's logs ("non-torch")."""
_LEAST_CONTEXT_GIB = 0.13
"""The least of it that was seen: 0.13 to 0.14 on one H100 with vLLM 0.11.0 (llm-d-planner@e50305af, six runs)."""
_MORE_GRAPHS_GIB = 0.7 / 768
"""For each request above 256: CUDA graphs take about 1 GiB at 1024."""
_FLAT_REQUESTS = 256


def overhead(facts: ModelFacts, setup: Setup) -> Overhead:
    """What the engine takes; unknown dimensions count as nothing."""
    use = setup.use
    step = _step(facts, setup)
    more = _CONTEXT_GIB + use.spread_gib
    more += use.exchange_gib if setup.devices > 1 else 0.0
    more += use.experts_gib if facts.experts else 0.0
    more += 0.0 if setup.eager else use.compiling_gib + _graphs_gib(setup)
    return Overhead(optimistic=step + _LEAST_CONTEXT_GIB * GIB, careful=step + more * GIB)


def _step(facts: ModelFacts, setup: Setup) -> float:
    """The largest buffers of one step; several devices do not divide them.

    - The MLP over all tokens: tokens x (4 hidden + 3 MLP width) x 2 B; a mixture's width is that of the experts that
      work on a token.
    - The sampler over all requests: copies x requests x vocabulary x 4 B.
    - The output layer over all tokens and a mask: tokens x (vocabulary x 4 B + context x 2 B), with flash attention.
    """
    if setup.use.output_buffer:
        return setup.step_tokens * (4.0 * facts.vocabulary + 2.0 * setup.max_model_len)
    experts = facts.experts
    width = experts.active * experts.intermediate_size if experts else facts.intermediate_size
    layers = setup.step_tokens * (4 * facts.hidden_size + 3 * width) * 2.0
    return max(layers, setup.use.sampler_copies * setup.requests_of_a_copy * facts.vocabulary * 4)


def _graphs_gib(setup: Setup) -> float:
    if not setup.use.graphs_gib:
        return 0.0
    return setup.use.graphs_gib + max(0, setup.requests_of_a_copy - _FLAT_REQUESTS) * _MORE_GRAPHS_GIB
