"""What would make a model fit, in the order of least change."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from llmservice.catalog.accelerator import Accelerator
from llmservice.catalog.support import number_of
from llmservice.models.model_facts import ModelFacts
from llmservice.models.tensor_parallel import experts_problem, stages_problem, tensor_parallel_problem
from llmservice.models.weights import weight_bytes
from llmservice.planning.fit.room import largest_context, room
from llmservice.planning.fit.setup import Setup

USUAL_COUNTS = (1, 2, 4, 8)
"""Devices of one node that are usual, and safe with most models."""
_MORE_NODES = (2, 4, 8, 16)
LEAST_CONTEXT = 1024
"""A length below this is no remedy: nobody could use the model."""
_FP8_NATIVE = (8, 9)
_ONLINE = "online-"
_ONLINE_FP8 = "online-fp8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One change. `context` is the most tokens that it allows, where that is less than was asked for; else 0.

    Of a type, `count` is how many of it are needed, 0 where their number stays, and `without` is a field that must be
    removed with it, else empty.
    """

    field: str
    value: str
    context: int = 0
    count: int = 0
    without: str = ""


def remedies(
    facts: ModelFacts, accelerator: Accelerator, setup: Setup, others: Iterable[Accelerator] = ()
) -> Iterator[Remedy]:
    """Changes that make it fit by the careful estimate: length, cache, requests, weights, devices, their type.

    Of `others`, the types that could be used instead, the one of the same vendor with the least memory is named; and
    where nothing but a type helps, one of which several do.
    """
    setup = _useful(facts, setup)
    found = [
        *_shorter(facts, accelerator, setup),
        *_smaller_cache(facts, accelerator, setup),
        *_fewer_requests(facts, accelerator, setup),
        *_smaller_weights(facts, accelerator, setup),
        *_more_devices(facts, accelerator, setup),
    ]
    yield from found
    types = [each for each in others if each.vendor == accelerator.vendor]
    yield from _larger_type(facts, accelerator, setup, types)
    if not found:
        yield from _several_of_a_type(facts, accelerator, setup, types)


def other_types(
    facts: ModelFacts, accelerator: Accelerator, setup: Setup, others: Iterable[Accelerator]
) -> Iterator[Remedy]:
    """One or several of another type of the same vendor, where no number of this one does."""
    types = [each for each in others if each.vendor == accelerator.vendor]
    yield from _several_of_a_type(facts, accelerator, replace(_useful(facts, setup), devices=0), types)


def _useful(facts: ModelFacts, setup: Setup) -> Setup:
    """A length that was left open (1 token) must become one that people can use."""
    least = min(facts.longest_context or LEAST_CONTEXT, LEAST_CONTEXT)
    return replace(setup, max_model_len=least) if setup.max_model_len == 1 else setup


def smallest_count(facts: ModelFacts, accelerator: Accelerator, setup: Setup, more_than: int = 0) -> int:
    """The fewest devices of one node on which it fits by the careful estimate, of 1, 2, 4 and 8; 0 when none does."""
    counts = (count for count in USUAL_COUNTS if count > more_than)
    return next((count for count in counts if fits_carefully(facts, accelerator, setup.with_count(count))), 0)


def fits_carefully(facts: ModelFacts, accelerator: Accelerator, setup: Setup) -> bool:
    """Whether it fits by the careful estimate; what is not known does not."""
    if setup.use.divides_heads and undividable(facts, setup):
        return False
    found = room(facts, accelerator, setup)
    return found is not None and found.careful > 0 and found.needed <= found.careful


def undividable(facts: ModelFacts, setup: Setup) -> str:
    """Why the model cannot be divided over the devices; empty when it can."""
    parts = setup.pipeline * setup.data
    if setup.devices % parts:
        return f"{setup.devices} devices cannot be divided by {parts} (pipeline x data)"
    return (
        tensor_parallel_problem(
            facts,
            setup.tensor,
            setup.quantization,
            whole_experts=setup.expert > 1,
            copies=setup.data if setup.shared_experts else 1,
        )
        or stages_problem(facts, setup.pipeline)
        or experts_problem(facts, setup.expert)
    )


def small_kv_dtype(accelerator: Accelerator, setup: Setup) -> str:
    """The KV cache of 8 bits that the engine takes on this device; empty where it takes none for certain."""
    return setup.use.small_kv_dtype if has_fp8(accelerator) or not setup.use.small_kv_in_hardware else ""


def has_fp8(accelerator: Accelerator) -> bool:
    """Whether the device has numbers of 8 bits with a fraction: NVIDIA's from 8.9 on, AMD's gfx94 and gfx95."""
    capability = accelerator.capability
    if capability.startswith("gfx"):
        return capability.startswith(("gfx94", "gfx95"))
    number = number_of(capability)
    return number is not None and number >= _FP8_NATIVE


def rounded_context(tokens: int) -> int:
    """A length as people write it: rounded down to two digits and noughts, and to thousands at most."""
    step: int = min(1000, 10 ** max(0, len(str(tokens)) - 2))
    return tokens // step * step


def _shorter(facts: ModelFacts, accelerator: Accelerator, setup: Setup) -> Iterator[Remedy]:
    longest = largest_context(facts, accelerator, setup)
    if LEAST_CONTEXT <= longest < setup.max_model_len:
        yield Remedy(field="maxModelLen", value=str(rounded_context(longest)))


def _smaller_cache(facts: ModelFacts, accelerator: Accelerator, setup: Setup) -> Iterator[Remedy]:
    dtype = small_kv_dtype(accelerator, setup)
    if not dtype or setup.kv_dtype not in ("", "auto"):
        return
    longest = largest_context(facts, accelerator, replace(setup, kv_dtype=dtype))
    if longest >= setup.max_model_len:
        yield Remedy(field="kvCacheDtype", value=dtype)
    elif longest >= LEAST_CONTEXT and longest > largest_context(facts, accelerator, setup):
        yield Remedy(field="kvCacheDtype", value=dtype, context=rounded_context(longest))


def _fewer_requests(facts: ModelFacts, accelerator: Accelerator, setup: Setup) -> Iterator[Remedy]:
    number = setup.max_num_seqs // 2
    while number and not fits_carefully(facts, accelerator, replace(setup, max_num_seqs=number)):
        number //= 2
    if number:
        yield Remedy(field="maxNumSeqs", value=str(number))


def _smaller_weights(facts: ModelFacts, accelerator: Accelerator, setup: Setup) -> Iterator[Remedy]:
    """The most bits that fit, of what people make of a plain checkpoint."""
    usual = setup.use.quantizations
    if facts.quantization or setup.quantization not in ("", *usual):
        return
    by_size = sorted(usual, key=lambda name: weight_bytes(facts, name) or 0, reverse=True)
    for name in by_size:
        native = has_fp8(accelerator) or not name.startswith(_ONLINE_FP8)
        if native and fits_carefully(facts, accelerator, replace(setup, quantization=name)):
            made = name.startswith(_ONLINE) or not setup.use.divides_heads
            yield Remedy(field="quantization" if made else "model.uri", value=name if made else f"of {name} weights")
            return


def _more_devices(facts: ModelFacts, accelerator: Accelerator, setup: Setup) -> Iterator[Remedy]:
    if accelerator.is_slice or setup.counted:
        return
    if count := smallest_count(facts, accelerator, setup, more_than=setup.devices // setup.nodes):
        yield Remedy(field="gpu.count", value=str(count))
    elif nodes := _more_nodes(facts, accelerator, setup):
        yield Remedy(field="gpu.nodes", value=str(nodes))


def _more_nodes(facts: ModelFacts, accelerator: Accelerator, setup: Setup) -> int:
    """The fewest nodes on which it fits where there are several already, each with a stage; 0 when none does."""
    if setup.nodes == 1 or setup.pipeline != setup.nodes:
        return 0
    count = setup.devices // setup.nodes
    wider = (replace(setup, nodes=nodes, pipeline=nodes, devices=count * nodes) for nodes in _MORE_NODES)
    fitting = (each.nodes for each in wider if each.nodes > setup.nodes and fits_carefully(facts, accelerator, each))
    return next(fitting, 0)


def _larger_type(
    facts: ModelFacts, accelerator: Accelerator, setup: Setup, types: Sequence[Accelerator]
) -> Iterator[Remedy]:
    """For a slice of a device the whole one, where that does."""
    larger = (each for each in types if each.memory_gib > accelerator.memory_gib)
    for each in sorted(larger, key=lambda each: (each.name != accelerator.name, each.memory_gib, each.name)):
        if fits_carefully(facts, each, _on(each, setup)):
            yield _type(each, accelerator)
            return


def _several_of_a_type(
    facts: ModelFacts, accelerator: Accelerator, setup: Setup, types: Sequence[Accelerator]
) -> Iterator[Remedy]:
    """As few devices as possible, of the least memory."""
    by_size = sorted(types, key=lambda each: (each.memory_gib, each.name))
    for count in USUAL_COUNTS:
        for each in by_size if count > setup.devices // setup.nodes else ():
            if fits_carefully(facts, each, _on(each, setup).with_count(count)):
                yield _type(each, accelerator, count)
                return


def _on(each: Accelerator, setup: Setup) -> Setup:
    """The start on another type, where engine and operator may choose larger numbers."""
    return replace(
        setup,
        batched_tokens=max(setup.batched_tokens, setup.use.usual_step_tokens(each)),
        max_num_seqs=max(setup.max_num_seqs, setup.use.usual_requests(each.memory_gib)),
    )


def _type(each: Accelerator, instead: Accelerator, count: int = 0) -> Remedy:
    other = each.resource_name != instead.resource_name
    return Remedy(field="gpu.type", value=each.name, count=count, without="gpu.resourceName" if other else "")
