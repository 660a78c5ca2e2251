"""The numbers with which a resource's engine would be started, as far as they matter for memory."""

from collections.abc import Iterator
from dataclasses import replace

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Accelerator
from llmservice.engines.argument_values import flags_in, value_of
from llmservice.engines.engine import Engine
from llmservice.engines.memory_use import MemoryUse
from llmservice.planning.facts import Facts
from llmservice.planning.fit.setup import Setup
from llmservice.planning.nodes import devices_of, nodes_of
from llmservice.planning.number_formats import choose_dtype
from llmservice.planning.parallelism import choose_parallelism
from llmservice.planning.task import POOLED, task_of

_MOST_TOKENS = 2**24
_FLOAT32 = ("float32", "float")


def setup_of(spec: LLMServiceSpec, facts: Facts, engine: Engine, max_model_len: int, max_num_seqs: int) -> Setup | None:
    """What the start would be; None on CPUs, and for an engine whose use of memory is not known.

    Arguments of the resource that change how memory is used are read.
    """
    use, accelerator = engine.capabilities.memory, facts.accelerator
    if use is None or accelerator is None:
        return None
    args = spec.engine_options.args
    flags = flags_in(args)
    if task_of(spec, facts) in POOLED:  # the whole prompt in one step
        use = replace(use, whole_prompts=True)
    wide = choose_dtype(spec, facts, engine).value in _FLOAT32 and not facts.model.quantization
    plain = _FLOAT32[0] if wide else ""
    shared, parallel = choose_parallelism(spec, facts, engine), engine.capabilities.parallelism
    return Setup(
        use=use,
        max_model_len=max_model_len,
        max_num_seqs=max_num_seqs,
        batched_tokens=_batched_tokens(use, accelerator, args),
        utilization=_utilization(use, args),
        devices=devices_of(spec, facts),
        nodes=nodes_of(spec),
        quantization=plain if spec.quantization == "auto" else spec.quantization,
        kv_dtype=spec.kv_cache_dtype or plain,
        eager=use.options.eager in flags,
        offloaded=_offloaded(spec, facts),
        pipeline=shared.pipeline if use.divides_heads else 1,
        data=shared.data,
        expert=shared.expert,
        shared_experts=parallel is not None and parallel.copies_share_experts,
        kinds=parallel.kinds if parallel else frozenset(),
        counted=spec.gpu.parallelism is not None and spec.gpu.parallelism.tensor is not None,
    )


def incalculable(spec: LLMServiceSpec, use: MemoryUse) -> str:
    """The first argument of the resource with which the arithmetic does not hold; empty without one."""
    return next(_relieving(spec, use), "")


def share_unknown(spec: LLMServiceSpec, facts: Facts, setup: Setup) -> bool:
    """Whether others use the device's memory too, and nothing says how much of it is for this engine."""
    shared = facts.accelerator is not None and facts.accelerator.shared
    return shared and not value_of(spec.engine_options.args, setup.use.options.utilization)


def _relieving(spec: LLMServiceSpec, use: MemoryUse) -> Iterator[str]:
    yield from (flag for flag in flags_in(spec.engine_options.args) if flag in use.options.relieving)
    yield from (each.name for each in spec.engine_options.env if each.name in use.options.relieving)


def _batched_tokens(use: MemoryUse, accelerator: Accelerator, args: tuple[str, ...]) -> int:
    said = value_of(args, use.options.step_tokens)
    if said.isdecimal() and 0 < int(said[:9]) <= _MOST_TOKENS:
        return int(said[:9])
    return use.usual_step_tokens(accelerator)


def _utilization(use: MemoryUse, args: tuple[str, ...]) -> float:
    try:
        said = float(value_of(args, use.options.utilization)[:16])
    except ValueError:
        return use.utilization
    return said if 0 < said <= 1 else use.utilization


def _offloaded(spec: LLMServiceSpec, facts: Facts) -> float:
    """The share of the layers that is on the devices."""
    asked, layers = spec.gpu.offload_layers, facts.model.layers
    return min(1.0, asked / layers) if asked and layers else 1.0
