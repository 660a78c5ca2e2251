"""What `llmservice fit` prints: a table for people, JSON for machines."""

from collections.abc import Iterable, Sequence
from typing import Any

from llmservice.cli.fit_figures import WORDS, figures_of
from llmservice.models.inspection_answer import facts_as_json
from llmservice.models.model_facts import ModelFacts
from llmservice.models.sizes import GIB
from llmservice.planning.fit.options import Option
from llmservice.planning.fit.setup import Setup
from llmservice.planning.fit.verdict import Outcome
from llmservice.untrusted.tables import table

_HEAD = ("GPU", "COUNT", "QUANTIZATION", "VERDICT", "WEIGHTS", "KV LEFT", "AT ONCE", "LONGEST", "WITH 8-BIT KV")
_NUMBERS = (1, 4, 5, 6, 7, 8)
"""Columns that are aligned to the right."""


def as_text(facts: ModelFacts, engine: str, setup: Setup, options: Sequence[Option], *, explained: bool) -> str:
    """A table with one option on a line; with `explained`, what is said of each that does not fit stands below it."""
    lines = table([_HEAD, *(_cells(option) for option in options)], right=_NUMBERS)
    legend = (
        f"{engine}, {setup.max_model_len} tokens a request, {setup.max_num_seqs} requests at once, "
        f"{setup.utilization:.0%} of each GPU. GiB are on each GPU, by the careful estimate.\n"
        "AT ONCE: requests of that length in the KV cache. LONGEST: tokens of one request that fit."
    )
    if 0 < facts.longest_context < setup.max_model_len:
        legend += f"\nThe model was made for {facts.longest_context} tokens: engines refuse more, unless told how."
    said = [f"{_place(option)}: {option.verdict.message}" for option in options if _is_wrong(option)]
    return "\n".join([*lines, "", legend, *(["", *said] if explained and said else [])])


def as_object(model: str, facts: ModelFacts, engine: str, setup: Setup, options: Iterable[Option]) -> dict[str, Any]:
    """Everything that is known of each option; sizes in bytes on each GPU."""
    return {
        "model": model,
        "facts": facts_as_json(facts),
        "engine": engine,
        "maxModelLen": setup.max_model_len,
        "maxNumSeqs": setup.max_num_seqs,
        "utilization": setup.utilization,
        "options": [_as_object(option) for option in options],
    }


def _as_object(option: Option) -> dict[str, Any]:
    setup = option.verdict.setup
    place = {"gpu": option.accelerator.name, "count": setup.devices, "quantization": setup.quantization}
    return place | figures_of(option.verdict)


def _cells(option: Option) -> tuple[object, ...]:
    verdict, room = option.verdict, option.verdict.room
    setup, most = verdict.setup, verdict.setup.max_num_seqs
    fixed = (option.accelerator.name, str(setup.devices), setup.quantization or "auto", WORDS[verdict.outcome])
    if room is None:
        return (*fixed, *("",) * (len(_HEAD) - len(fixed)))
    at_once = f"{min(int(verdict.full_length_requests), most)} of {most}"
    return (
        *fixed,
        f"{room.weights / GIB:.1f}",
        f"{max(0.0, room.careful) / GIB:.1f}",
        at_once,
        verdict.largest_context or "",
        verdict.largest_context_small_kv or "",
    )


def _place(option: Option) -> str:
    setup = option.verdict.setup
    return f"{setup.devices} x {option.accelerator.name}, {setup.quantization or 'auto'}"


def _is_wrong(option: Option) -> bool:
    return option.verdict.outcome is not Outcome.FITS
