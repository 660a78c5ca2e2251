"""How large /dev/shm is: what processes of one replica exchange."""

import math

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.argument_values import value_of
from llmservice.engines.engine import Engine, Launch
from llmservice.planning.decided import Decided, default

_EXCHANGED_GIB = 2
"""The default of 64 MiB is too small (vLLM: 160 MiB on one CPU, 400 MiB on two; NCCL: some MiB for each pair)."""
_MOST_GIB = 4096


def choose_shared_memory(spec: LLMServiceSpec, engine: Engine, launch: Launch, devices: int) -> Decided[str]:
    """The size that the user wants, else for what exchanges buffers there; empty leaves it as the container has it.

    vLLM puts the KV cache that it offloads to the host there (v1/kv_offload/cpu/spec.py).
    """
    if spec.pod.shared_memory is not None:
        return Decided(spec.pod.shared_memory)
    offloaded = gib_in(value_of(spec.engine_options.args, engine.capabilities.offloads_to_shared_memory))
    if offloaded:
        size = f"{offloaded + _EXCHANGED_GIB}Gi"
        flag = engine.capabilities.offloads_to_shared_memory
        return Decided(
            size, default("pod.sharedMemory", size, f"for the {offloaded} GiB of {flag}, and what processes exchange")
        )
    if devices <= 1 and not launch.needs_shared_memory:
        return Decided("")
    size = f"{_EXCHANGED_GIB}Gi"
    reason = "for what the engine's processes exchange: the usual 64 MiB are too small"
    return Decided(size, default("pod.sharedMemory", size, reason))


def gib_in(value: str) -> int:
    """Whole GiB of an option's value, rounded up and bounded; 0 for what is no size."""
    try:
        size = float(value[:16])
    except ValueError:
        return 0
    return min(_MOST_GIB, math.ceil(size)) if size > 0 and math.isfinite(size) else 0
