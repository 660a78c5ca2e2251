"""What an engine takes on each device beside weights and KV cache.

The constants are read off start-up logs of vLLM: 13 runs on H100 with 0.19 for activations (llm-d-planner; within 5 %
for dense models, +29 % for Mixtral, -18 % for Qwen3-30B-A3B), single logs of 0.31 to 0.33 for the rest. Nothing is bent
for one model. The optimistic estimate has only what no start can do without.
"""

from dataclasses import dataclass

from llmservice.models.model_facts import ModelFacts
from llmservice.planning.fit.setup import GIB, Engine, Setup


@dataclass(frozen=True, slots=True)
class Overhead:
    """Bytes on each device, by the optimistic and by the careful estimate."""

    optimistic: float
    careful: float


_CONTEXT_GIB = 0.3
"""Libraries and buffers outside the engine's own pools on one device (vLLM's "non-torch": 0.25 to 0.27)."""
_EXCHANGE_GIB = 1.8
"""More of it with tensor parallelism: NCCL and custom all-reduce (2.1 to 2.2 in all, on H100 with NVLink)."""
_COMPILING_GIB = 0.75
"""While torch.compile fills a cold cache: up to 1."""
_GRAPHS_GIB = 0.3
"""CUDA graphs of up to 256 sequences; about 1 at 1024."""
_GRAPHS_STEEP_GIB = 0.7 / 768
_GRAPHS_FLAT_SEQS = 256
_EXPERTS_GIB = 0.5
"""Workspace of a mixture of experts."""
_SAMPLER = 3.8
"""Copies of the logits in vLLM's warm-up of the sampler, since 0.17; 9.7 before."""
_LLAMACPP_SPREAD_GIB = 0.5


def overhead(facts: ModelFacts, setup: Setup) -> Overhead:
    """What the engine takes; unknown dimensions count as nothing."""
    if setup.engine is Engine.LLAMACPP:
        return _llamacpp(facts, setup)
    activation = _activation(facts, setup)
    exchange = _EXCHANGE_GIB if setup.devices > 1 else 0.0
    experts = _EXPERTS_GIB if facts.experts else 0.0
    prepared = 0.0 if setup.eager else _graphs_gib(setup)
    compiling = _COMPILING_GIB if setup.engine is Engine.VLLM and not setup.eager else 0.0
    low = activation + _CONTEXT_GIB * GIB
    return Overhead(optimistic=low, careful=low + (exchange + experts + prepared + compiling) * GIB)


def _activation(facts: ModelFacts, setup: Setup) -> float:
    """The peak of one step: the MLP over a full batch, or on vLLM the sampler over all sequences. Not divided.

    max(batched tokens x (4 hidden + 3 MLP width) x 2 B, 3.8 x sequences x vocabulary x 4 B); a mixture's width is that
    of the experts that work on a token.
    """
    experts = facts.experts
    width = experts.active * experts.intermediate_size if experts else facts.intermediate_size
    step = setup.step_tokens * (4 * facts.hidden_size + 3 * width) * 2.0
    sampler = _SAMPLER * setup.max_num_seqs * facts.vocabulary * 4
    return max(step, sampler) if setup.engine is Engine.VLLM else step


def _graphs_gib(setup: Setup) -> float:
    return _GRAPHS_GIB + max(0, setup.max_num_seqs - _GRAPHS_FLAT_SEQS) * _GRAPHS_STEEP_GIB


def _llamacpp(facts: ModelFacts, setup: Setup) -> Overhead:
    """The buffer of one step: logits (vocabulary x 512 x 4 B) and a mask (context x 512 x 2 B), with flash attention.

    Llama 3 8B at 8192 tokens: 258.5 MiB, as the engine logs. 0.3 to 1 GiB are seen in all.
    """
    low = setup.step_tokens * (4.0 * facts.vocabulary + 2.0 * setup.max_model_len) + _CONTEXT_GIB * GIB
    return Overhead(optimistic=low, careful=low + _LLAMACPP_SPREAD_GIB * GIB)
