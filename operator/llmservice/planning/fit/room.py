"""What is left for the KV cache on each device, and what is asked of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from llmservice.catalog.accelerator import Accelerator
from llmservice.models.kv_cache import KvCache, kv_cache
from llmservice.models.model_facts import ModelFacts
from llmservice.models.sizes import GIB
from llmservice.models.weights import experts_share, weight_bytes
from llmservice.planning.fit.overhead import overhead
from llmservice.planning.fit.setup import Setup

_LONGEST = 2**24


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Bytes on each device: what the engine may use, what the weights take, what is left by either estimate.

    `request` is the KV cache of one request of `max_model_len` tokens, 0 where the model's dimensions are unknown;
    `reserved` is how many of them must fit before anything is served.
    """

    usable: float
    weights: float
    optimistic: float
    careful: float
    request: float
    reserved: int

    @property
    def needed(self) -> float:
        """KV cache that the engine cannot start without."""
        return self.request * self.reserved


def room(facts: ModelFacts, accelerator: Accelerator, setup: Setup) -> Room | None:
    """The room on such devices; None when nothing tells the size of the weights."""
    weights = weight_bytes(facts, setup.quantization)
    if weights is None:
        return None
    return _room(facts, accelerator, setup, weights, cache_of(facts, setup))


@lru_cache(maxsize=1024)
def largest_context(facts: ModelFacts, accelerator: Accelerator, setup: Setup) -> int:
    """The most tokens a request can have by the careful estimate, up to what the model knows; 0 when none fits.

    Remembered, because every plan of a service asks again.
    """
    weights, cache = weight_bytes(facts, setup.quantization), cache_of(facts, setup)
    if weights is None or cache is None:
        return 0

    def fits(tokens: int) -> bool:
        found = _room(facts, accelerator, replace(setup, max_model_len=tokens), weights, cache)
        return found.needed <= found.careful

    shortest = _room(facts, accelerator, replace(setup, max_model_len=1), weights, cache)
    growing = cache.full * shortest.reserved
    # More than this cannot fit, and where all layers keep all tokens it mostly does: one look instead of twenty.
    bound = int(max(0.0, shortest.careful) // growing) if growing else _LONGEST
    most = min(bound, facts.longest_context or _LONGEST)
    return most if most and fits(most) else _last(fits, most)


def _last(holds: Callable[[int], bool], most: int) -> int:
    """The largest number below `most` of which it holds, when it holds of all smaller ones; 0 for none."""
    low, high = 0, max(0, most - 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def cache_of(facts: ModelFacts, setup: Setup) -> KvCache | None:
    """The KV cache on one device, which holds a share of each layer's heads or whole layers."""
    if setup.use.divides_heads:
        whole, share = kv_cache(facts, setup.kv_dtype, setup.tensor), 1 / setup.pipeline
    else:
        whole, share = kv_cache(facts, setup.kv_dtype), setup.offloaded / setup.devices
    return (
        whole
        if whole is None or share == 1
        else replace(whole, full=whole.full * share, windowed=whole.windowed * share)
    )


def reserved_requests(setup: Setup) -> int:
    """Full-length requests that must fit at the start: all of them, or one where the cache is paged."""
    return setup.max_num_seqs if setup.use.reserves_requests else 1


def _room(facts: ModelFacts, accelerator: Accelerator, setup: Setup, weights: int, cache: KvCache | None) -> Room:
    usable = accelerator.memory_gib * setup.utilization * GIB
    share, taken = weights * setup.offloaded * _share_of_weights(facts, setup), overhead(facts, setup)
    method = setup.quantization if setup.quantization not in ("", "auto") else facts.quantization
    padding = share * sum(widened for *which, widened in setup.use.padding if which == [method, accelerator.capability])
    return Room(
        usable=usable,
        weights=share,
        optimistic=usable - share - taken.optimistic,
        careful=usable - share - padding - taken.careful,
        request=cache.request_bytes(setup.max_model_len, setup.step_tokens) if cache else 0.0,
        reserved=reserved_requests(setup),
    )


def _share_of_weights(facts: ModelFacts, setup: Setup) -> float:
    """On each device: every copy has all weights, but for experts that the copies share."""
    of_copy = setup.data / setup.devices
    if setup.data == 1 or not setup.shared_experts:
        return of_copy
    experts = experts_share(facts, setup.quantization)
    return (1 - experts) * of_copy + experts / setup.devices
