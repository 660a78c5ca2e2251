"""What a request keeps in the KV cache, in bytes on one device.

- Full attention: 2 x layers x KV heads x head size x bytes a value, for every token. Tensor parallelism divides it by
  min(devices, KV heads): beyond that, heads are copied.
- Latent attention (DeepSeek): layers x (rank + rope size), the same on every device.
- A sliding or chunked window holds at most window - 1 + what one step adds (vLLM 0.33, SlidingWindowSpec in
  v1/kv_cache_interface.py).
- Linear layers keep a state of constant size, which is not counted here.

Checked against vLLM's logs: 476,016 tokens in 58.11 GiB of Llama 3.1 8B, 1,096,000 in 58.53 GiB of Qwen2.5 7B.
"""

from dataclasses import dataclass

from llmservice.models.model_facts import ModelFacts

_BYTES = {"float32": 4.0, "f32": 4.0, "q8_0": 8.5 / 8, "q5_1": 6.0 / 8, "q5_0": 5.5 / 8, "q4_1": 5.0 / 8}
_BYTES |= {"q4_0": 4.5 / 8, "iq4_nl": 4.5 / 8}
_TWO_BYTES = frozenset({"", "auto", "bfloat16", "float16", "f16", "bf16", "half"})


@dataclass(frozen=True, slots=True)
class KvCache:
    """Bytes that one token takes on one device: in layers that keep all tokens, and in those that keep `window`."""

    full: float
    windowed: float = 0.0
    window: int = 0

    def request_bytes(self, tokens: int, in_flight: int) -> float:
        """What a request of so many tokens takes, when a step adds up to `in_flight` of them."""
        kept = min(tokens, self.window - 1 + in_flight)
        return self.full * tokens + self.windowed * kept


def value_bytes(dtype: str) -> float | None:
    """Bytes of one value of the cache by the name of its type; None for an unknown one."""
    folded = dtype.casefold()
    if folded in _TWO_BYTES:
        return 2.0
    return 1.0 if folded.startswith("fp8") else _BYTES.get(folded)


def kv_cache(facts: ModelFacts, dtype: str = "", devices: int = 1) -> KvCache | None:
    """The cache of a model under tensor parallelism over `devices`; None where a dimension or the type is unknown."""
    size = value_bytes(dtype)
    if size is None or not facts.layers:
        return None
    if facts.latent is not None:
        return KvCache(full=facts.layers * (facts.latent.rank + facts.latent.rope_size) * size)
    heads, head_size = facts.kv_heads or facts.heads, facts.head_size or _head_size(facts)
    if not heads or not head_size:
        return None
    full_layers = facts.layers - facts.sliding_layers - facts.linear_layers
    whole = _per_layer(facts.global_kv_heads or heads, facts.global_head_size or head_size, devices)
    windowed = facts.sliding_layers * _per_layer(heads, head_size, devices) * size
    return KvCache(full=full_layers * whole * size, windowed=windowed, window=facts.sliding_window)


def _per_layer(heads: int, head_size: int, devices: int) -> float:
    return 2 * heads * head_size / min(devices, heads)


def _head_size(facts: ModelFacts) -> int:
    return facts.hidden_size // facts.heads if facts.heads else 0
