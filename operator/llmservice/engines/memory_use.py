"""How an engine uses the memory of devices, as data: what the arithmetic of fitting asks of it."""

from dataclasses import dataclass

from llmservice.catalog.accelerator import Accelerator

_LARGE_GIB = 70.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions:
    """Options of the engine that change how it uses memory; empty where it has none.

    `relieving` are options and variables that need less of a device than the arithmetic knows (offloading, a smaller
    cache, a changed model): with one of them nothing is refused.
    """

    utilization: str = ""
    step_tokens: str = ""
    eager: str = ""
    relieving: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """What an engine takes, and when. Sizes ending in `_gib` are on each device, by the careful estimate.

    `variants` are the image variants whose devices it uses in this way. `utilization` is the share of a device it takes
    when nobody says. A step works on `step_tokens`, or `large_step_tokens` on devices of 70 GiB and more but those of
    `small_step_capabilities`; with `whole_prompts` on no less than a whole request.

    `divides_heads`: several devices share each layer, which some models do not allow; else each gets whole layers.
    `reserves_requests`: the KV cache of all requests is taken at the start; else there must be room for one.
    `output_buffer`: the largest step is that of the output layer over all its tokens; else that of an MLP, or the
    sampler's over all requests, which holds `sampler_copies` of their logits. `padding` are a quantization, a
    compute capability, and the share by which kernels widen the weights of such a checkpoint there.

    `compiling_gib` is what compilation takes while a start has no cache, `graphs_gib` CUDA graphs of up to 256
    requests, `exchange_gib` what several devices exchange, `experts_gib` the workspace of a mixture of experts,
    `spread_gib` what differs from start to start.

    `small_kv_dtype` is the KV cache of 8 bits; with `small_kv_in_hardware` where the device has such numbers.
    `quantizations` are what people make of a plain checkpoint, the operator's own choice first. `requests` are pairs:
    below so many GiB of a device so many concurrent requests are usual, in growing order.
    """

    variants: frozenset[str]
    utilization: float
    step_tokens: int
    large_step_tokens: int = 0
    small_step_capabilities: frozenset[str] = frozenset()
    whole_prompts: bool = False
    divides_heads: bool = True
    reserves_requests: bool = False
    output_buffer: bool = False
    sampler_copies: float = 0.0
    padding: tuple[tuple[str, str, float], ...] = ()
    compiling_gib: float = 0.0
    graphs_gib: float = 0.0
    exchange_gib: float = 0.0
    experts_gib: float = 0.0
    spread_gib: float = 0.0
    small_kv_dtype: str = ""
    small_kv_in_hardware: bool = True
    quantizations: tuple[str, ...] = ("auto",)
    requests: tuple[tuple[float, int], ...] = ()
    options: MemoryOptions = MemoryOptions()

    def usual_requests(self, memory_gib: float) -> int:
        """Concurrent requests on a device of so much memory when nobody says; 0 where nothing is recorded."""
        return next((usual for below, usual in self.requests if memory_gib < below), 0) if memory_gib else 0

    def usual_step_tokens(self, accelerator: Accelerator) -> int:
        """Tokens of one step on such a device when nobody says."""
        small = accelerator.memory_gib < _LARGE_GIB or accelerator.capability in self.small_step_capabilities
        return self.step_tokens if small else self.large_step_tokens or self.step_tokens
