"""Starts of each engine, as it would choose them."""

from llmservice.engines.memory_use import MemoryUse
from llmservice.engines.registry import ENGINES
from llmservice.planning.fit.setup import Setup


def use_of(engine: str) -> MemoryUse:
    use = ENGINES[engine].capabilities.memory
    assert use is not None
    return use


def usual(engine: str, max_num_seqs: int, quantization: str = "") -> Setup:
    """8192 tokens a request on one device."""
    use, parallel = use_of(engine), ENGINES[engine].capabilities.parallelism
    assert parallel is not None
    return Setup(
        use=use,
        max_model_len=8192,
        max_num_seqs=max_num_seqs,
        batched_tokens=use.step_tokens,
        utilization=use.utilization,
        quantization=quantization,
        kinds=parallel.kinds,
        shared_experts=parallel.copies_share_experts,
    )
