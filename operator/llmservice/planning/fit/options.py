"""Which types of device, how many of them, and which quantizations a model fits."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from llmservice.catalog.accelerator import Accelerator
from llmservice.models.model_facts import ModelFacts
from llmservice.planning.fit.checking import check_fit
from llmservice.planning.fit.remedies import USUAL_COUNTS
from llmservice.planning.fit.setup import Setup
from llmservice.planning.fit.verdict import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Option:
    """One type of device and what is said of it; the verdict's setup has count and quantization."""

    accelerator: Accelerator
    verdict: Verdict


def options(
    facts: ModelFacts,
    accelerators: Sequence[Accelerator],
    quantizations: Sequence[str],
    setup: Setup,
    counts: Sequence[int] = USUAL_COUNTS,
) -> Iterator[Option]:
    """For each type and quantization a verdict for each count, in rising order, up to the first that fits.

    `setup` gives the numbers; its tokens of one step are replaced by what is usual on each type.
    """
    for accelerator in accelerators:
        step = setup.use.usual_step_tokens(accelerator)
        for quantization in quantizations:
            start = replace(setup, batched_tokens=step, quantization=quantization)
            yield from _by_count(facts, accelerator, start, counts)


def best_only(found: Iterable[Option]) -> list[Option]:
    """Of each type and quantization the one that says most: the first that fits, else a tight one, else the last.

    Counts that a model cannot be divided by are passed over when there is another.
    """
    groups: dict[tuple[str, str], list[Option]] = {}
    for option in found:
        groups.setdefault((option.accelerator.name, option.verdict.setup.quantization), []).append(option)
    return [_best(group) for group in groups.values()]


def distinct(accelerators: Iterable[Accelerator], variants: Container[str]) -> list[Accelerator]:
    """Types for images of these variants by memory, each once.

    A form (H100-SXM) is left out beside a name for all forms (H100).
    """
    named = {each.name: each for each in accelerators if each.name and each.image_variant in variants}
    kept = [each for each in named.values() if not any(_covers(other, each) for other in named.values())]
    return sorted(kept, key=lambda each: (each.memory_gib, each.name))


def _by_count(facts: ModelFacts, accelerator: Accelerator, setup: Setup, counts: Sequence[int]) -> Iterator[Option]:
    for count in counts:
        verdict = check_fit(facts, accelerator, replace(setup, devices=count))
        yield Option(accelerator, verdict)
        if verdict.outcome is Outcome.FITS:
            return


def _best(group: Sequence[Option]) -> Option:
    for wanted in (Outcome.FITS, Outcome.TIGHT, Outcome.UNKNOWN):
        for option in group:
            if option.verdict.outcome is wanted:
                return option
    return next((option for option in reversed(group) if option.verdict.room is not None), group[-1])


def _covers(other: Accelerator, each: Accelerator) -> bool:
    same = (other.memory_gib, other.capability) == (each.memory_gib, each.capability)
    return same and each.name.startswith(f"{other.name}-")
