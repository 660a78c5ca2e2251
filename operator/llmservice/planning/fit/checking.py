"""From the facts of a model, a device and the numbers of a start to a verdict."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from llmservice.catalog.accelerator import Accelerator
from llmservice.models.model_facts import ModelFacts
from llmservice.models.tensor_parallel import experts_problem, stages_problem
from llmservice.planning.fit import wording
from llmservice.planning.fit.remedies import Remedy, fits_carefully, other_types, remedies, small_kv_dtype, undividable
from llmservice.planning.fit.room import Room, largest_context, room
from llmservice.planning.fit.setup import Setup
from llmservice.planning.fit.verdict import Outcome, Verdict

_MOST_DEVICES = 16
_WRONG = (Outcome.TIGHT, Outcome.DOES_NOT_FIT)


def check_fit(facts: ModelFacts, accelerator: Accelerator, setup: Setup, others: Iterable[Accelerator] = ()) -> Verdict:
    """Whether the model fits the devices of this setup; `others` are types that a remedy may name.

    Refused is only what fails by the optimistic estimate; what is not known is never refused.
    """
    found = _without_remedies(facts, accelerator, setup)
    if found is None:
        return _undividable(facts, accelerator, setup, others)
    if found.room is None or found.outcome not in _WRONG:
        return found
    ways_out = tuple(remedies(facts, accelerator, setup, others))
    return replace(
        found, remedies=ways_out, message=_message(found.outcome, found.room, 0, accelerator, ways_out, setup)
    )


@lru_cache(maxsize=1024)
def _without_remedies(facts: ModelFacts, accelerator: Accelerator, setup: Setup) -> Verdict | None:
    """The verdict but for what to change; None where the model cannot be divided.

    Remembered: each reconcile of a service that fits asks it anew.
    """
    if setup.use.divides_heads and undividable(facts, setup):
        return None
    if unknown := _unknown(accelerator, setup):
        return Verdict(outcome=Outcome.UNKNOWN, setup=setup, message=unknown)
    found = room(facts, accelerator, setup)
    if found is None:
        message = "the size of the weights is not known"
        return Verdict(outcome=Outcome.UNKNOWN, setup=setup, message=message)
    return _judged(facts, accelerator, setup, found)


def _unknown(accelerator: Accelerator, setup: Setup) -> str:
    name = accelerator.shown_name
    if accelerator.image_variant not in setup.use.variants:
        return f"how the engine uses the memory of {name} is not known"
    return "" if accelerator.memory_gib else f"the memory of {name} is not known"


def _undividable(facts: ModelFacts, accelerator: Accelerator, setup: Setup, others: Iterable[Accelerator]) -> Verdict:
    """Named are the numbers of devices that fit; where none does other types, and where nobody knows all numbers."""
    problem = undividable(facts, setup)
    if setup.counted or problem in (stages_problem(facts, setup.pipeline), experts_problem(facts, setup.expert)):
        message = f"{problem}: correct gpu.parallelism, or omit it"
        return Verdict(outcome=Outcome.DOES_NOT_FIT, setup=setup, message=message)
    sizes = [size for size in range(1, _MOST_DEVICES + 1) if not undividable(facts, setup.with_count(size))]
    fitting = [size for size in sizes if fits_carefully(facts, accelerator, setup.with_count(size))]
    count = setup.devices // setup.nodes
    nearest = sorted(fitting, key=lambda size: (abs(size - count), size))[:1]
    otherwise = list(_shared_otherwise(facts, accelerator, setup))
    ways_out = [*(Remedy(field="gpu.count", value=str(size)) for size in nearest), *otherwise]
    if not fitting and not _unknown(accelerator, setup):
        ways_out += other_types(facts, accelerator, setup, others)
    message = f"{problem}: gpu.count may be {', '.join(str(size) for size in fitting or sizes)}"
    message += "".join(f", or set {remedy.field} to {remedy.value}" for remedy in otherwise)
    if not nearest and ways_out:
        message = wording.with_remedies(problem, ways_out)
    return Verdict(outcome=Outcome.DOES_NOT_FIT, setup=setup, message=message, remedies=tuple(ways_out))


def _shared_otherwise(facts: ModelFacts, accelerator: Accelerator, setup: Setup) -> Iterator[Remedy]:
    """Other ways in which these devices can share the model, and it fits."""
    whole, staged = _whole_experts(facts, setup), _stages(facts, setup)
    if whole and fits_carefully(facts, accelerator, replace(setup, expert=whole)):
        yield Remedy(field="gpu.parallelism.expert", value=str(whole))
    if staged and fits_carefully(facts, accelerator, replace(setup, pipeline=staged)):
        yield Remedy(field="gpu.parallelism.pipeline", value=str(staged))


def _whole_experts(facts: ModelFacts, setup: Setup) -> int:
    """Over how many devices experts can be spread, where the engine can and does not yet; else 0."""
    able = "expert" in setup.kinds and setup.expert == 1 and facts.experts is not None
    return setup.tensor * (setup.data if setup.shared_experts else 1) if able else 0


def _stages(facts: ModelFacts, setup: Setup) -> int:
    """The fewest stages with which the rest of these devices can share each layer; 0 without."""
    if "pipeline" not in setup.kinds or setup.pipeline > 1:
        return 0
    numbers = (number for number in range(2, setup.tensor + 1) if setup.tensor % number == 0)
    return next((number for number in numbers if not undividable(facts, replace(setup, pipeline=number))), 0)


def _judged(facts: ModelFacts, accelerator: Accelerator, setup: Setup, found: Room) -> Verdict:
    outcome = outcome_of(found)
    requests = max(0.0, setup.data * found.careful / found.request) if found.request else 0.0
    dtype = small_kv_dtype(accelerator, setup)
    smaller = replace(setup, kv_dtype=dtype)
    return Verdict(
        outcome=outcome,
        setup=setup,
        message=_message(outcome, found, requests, accelerator, (), setup),
        room=found,
        full_length_requests=requests,
        largest_context=largest_context(facts, accelerator, setup),
        largest_context_small_kv=largest_context(facts, accelerator, smaller) if dtype else 0,
    )


def outcome_of(found: Room) -> Outcome:
    """What the figures say. Without the model's dimensions nothing but the weights can be refused."""
    if found.optimistic <= 0 or found.needed > found.optimistic:
        return Outcome.DOES_NOT_FIT
    if not found.request:
        return Outcome.UNKNOWN
    return Outcome.TIGHT if found.needed > found.careful else Outcome.FITS


def _message(
    outcome: Outcome, found: Room, requests: float, accelerator: Accelerator, ways_out: tuple[Remedy, ...], setup: Setup
) -> str:
    if outcome in (Outcome.FITS, Outcome.UNKNOWN):
        return wording.what_is_left(found, requests, accelerator, setup)
    if found.optimistic <= 0:
        return wording.with_remedies(wording.weights_too_large(found, accelerator, setup), ways_out)
    tight = outcome is Outcome.TIGHT
    return wording.with_remedies(wording.cache_too_small(found, accelerator, setup, tight=tight), ways_out)
