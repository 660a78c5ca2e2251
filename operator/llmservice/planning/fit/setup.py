"""With which numbers an engine would be started."""

from dataclasses import dataclass, field, replace

from llmservice.engines.memory_use import MemoryUse
from llmservice.engines.parallelism import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The numbers of one start.

    `use` is how the engine uses memory. `devices`, one or more, share the model, as many on each of
    `nodes`; `utilization` is the share of each
    that the engine takes. `max_model_len` and `batched_tokens` (of one step) are tokens, `max_num_seqs` requests. Empty
    names of `quantization` and `kv_dtype` are the checkpoint's own and 16 bits. `eager` is a start without compilation
    and graphs; `offloaded` is the share of the layers that is on the devices.

    The devices are `data` copies of the model, each in `pipeline` stages; where an engine divides layers, the rest
    share each of them. `expert` devices have whole experts; `shared_experts` are spread over all copies. `kinds` are
    those that the engine has, and with `counted` another number of devices needs other numbers of these.
    """

    use: MemoryUse = field(hash=False)
    max_model_len: int
    max_num_seqs: int
    batched_tokens: int
    utilization: float
    devices: int = 1
    nodes: int = 1
    quantization: str = ""
    kv_dtype: str = ""
    eager: bool = False
    offloaded: float = 1.0
    pipeline: int = 1
    data: int = 1
    expert: int = 1
    shared_experts: bool = False
    kinds: frozenset[Kind] = frozenset()
    counted: bool = False

    def with_count(self, count: int) -> "Setup":
        """The same with so many devices of each node."""
        return replace(self, devices=count * self.nodes)

    @property
    def step_tokens(self) -> int:
        """Tokens that one step may work on."""
        return max(self.batched_tokens, self.max_model_len) if self.use.whole_prompts else self.batched_tokens

    @property
    def tensor(self) -> int:
        """Devices that share each layer, where the engine divides layers."""
        return max(1, self.devices // (self.pipeline * self.data))

    @property
    def requests_of_a_copy(self) -> int:
        """Requests that one copy of the model works on at once."""
        return max(1, self.max_num_seqs // self.data)
