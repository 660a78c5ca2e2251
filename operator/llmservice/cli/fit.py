"""`llmservice fit`: on which GPUs a model fits, and how many requests it serves there."""

import sys
from dataclasses import dataclass
from typing import Any, BinaryIO

import click

from llmservice.catalog.accelerator import Accelerator
from llmservice.catalog.catalogue import Catalogue, nearest
from llmservice.catalog.engine_version import EngineVersion
from llmservice.cli.catalogue_file import catalogue_option, catalogue_with
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.fit_facts import facts_of
from llmservice.cli.fit_table import as_object, as_text
from llmservice.cli.output import as_data, is_for_programs, output_option
from llmservice.engines.gguf import is_tag
from llmservice.engines.memory_use import MemoryUse
from llmservice.engines.parallelism import Kind
from llmservice.engines.registry import ENGINES, USUAL
from llmservice.errors import InvalidSpec, UsageError
from llmservice.models.kv_cache import value_bytes
from llmservice.models.model_facts import ModelFacts
from llmservice.planning.fit.options import best_only, distinct, options
from llmservice.planning.fit.remedies import USUAL_COUNTS
from llmservice.planning.fit.setup import Setup
from llmservice.planning.fit.verdict import Outcome

_USUAL_TOKENS = 8192
"""Of a request where nobody says: types are compared at the same length, which the operator would fit to each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """The options of the command."""

    model: str
    file: BinaryIO | None
    types: str
    count: int | None
    quantization: str
    engine: str
    max_model_len: int | None
    max_num_seqs: int | None
    kv_cache_dtype: str
    utilization: float | None
    catalogue: str | None


@click.command(name="fit")
@click.option("--model", default="", metavar="ID", help="Name on the hub, such as Qwen/Qwen3-8B.")
@click.option(
    "--facts", "file", type=click.File("rb"), help="JSON file with the model's facts, instead of the catalogue's."
)
@click.option(
    "--gpu", "types", default="", metavar="TYPE[,TYPE]", help="Only these types. Omitted: every GPU of the catalogue."
)
@click.option("--count", type=click.IntRange(1, 64), default=None, help="GPUs of a replica. Omitted: 1, 2, 4 and 8.")
@click.option("--quantization", default="", metavar="NAME[,NAME]", help="As in spec.quantization. Omitted: usual ones.")
@click.option("--engine", type=click.Choice(sorted(ENGINES)), default=USUAL, show_default=True)
@click.option(
    "--max-model-len",
    type=click.IntRange(1, 2**24),
    default=None,
    help="Omitted: 8192, or less if the model ends there.",
)
@click.option("--max-num-seqs", type=click.IntRange(1, 8192), default=None, help="Omitted: usual for the engine.")
@click.option("--kv-cache-dtype", default="", metavar="NAME", help="As in spec.kvCacheDtype, such as fp8 or q8_0.")
@click.option("--utilization", type=click.FloatRange(0.01, 1.0), default=None, help="Share of a GPU that is taken.")
@catalogue_option
@output_option()
def command(output: str, **given: Any) -> None:
    """Say on which GPUs a model fits, from its dimensions, before a GPU is taken.

    Without --gpu: each type with the fewest GPUs that hold the model as it is. With --gpu: each number up to the first
    that fits, also with its weights in fewer bits. It is about memory alone: whether an engine has kernels for a
    quantization on a type is not looked at.

    Exit codes: 0 it fits somewhere, or too little is known; 1 it fits nowhere; 2 wrong usage or an unknown model.

    \b
    llmservice fit --model Qwen/Qwen3-8B
    llmservice fit --model meta-llama/Llama-3.1-8B-Instruct --gpu L4,T4 --max-model-len 131072
    llmservice fit --model my-model --facts facts.json --gpu H100 -o json
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    wanted = _Wanted(**given)
    with errors_shown():
        catalogue = catalogue_with(wanted.catalogue)
        facts = facts_of(wanted.model, wanted.file, catalogue)
        version = catalogue.engine_version(wanted.engine, None)
        setup = _setup(facts, version, wanted)
        types, names = _types(catalogue, version, setup.use, wanted), _quantizations(facts, version, setup.use, wanted)
    counts = (wanted.count,) if wanted.count else USUAL_COUNTS
    found = list(options(facts, types, names, setup, counts))
    shown = found if wanted.types else best_only(found)
    if is_for_programs(output):
        click.echo(as_data(as_object(wanted.model, facts, wanted.engine, setup, shown), output), nl=False)
    else:
        click.echo(as_text(facts, wanted.engine, setup, shown, explained=bool(wanted.types)))
    if all(option.verdict.outcome is Outcome.DOES_NOT_FIT for option in found):
        sys.exit(1)


def _setup(facts: ModelFacts, version: EngineVersion, wanted: _Wanted) -> Setup:
    """The same usual numbers for every type, unless they are given."""
    use = ENGINES[wanted.engine].capabilities.memory
    if use is None:
        raise UsageError("UnknownMemoryUse", f"how {wanted.engine} uses memory is not known", field="--engine")
    if value_bytes(wanted.kv_cache_dtype) is None:
        message = f"{wanted.kv_cache_dtype} is not a type of KV cache with a known size; use fp8 or q8_0"
        raise UsageError("UnknownKvCacheDtype", message, field="--kv-cache-dtype")
    usual = min(_USUAL_TOKENS, facts.longest_context or _USUAL_TOKENS)
    return Setup(
        use=use,
        max_model_len=wanted.max_model_len or usual,
        max_num_seqs=wanted.max_num_seqs or version.max_num_seqs,
        batched_tokens=use.step_tokens,
        utilization=wanted.utilization or use.utilization,
        kv_dtype=wanted.kv_cache_dtype,
        kinds=_kinds(wanted.engine),
    )


def _kinds(engine: str) -> frozenset[Kind]:
    """In which ways the engine can divide a model."""
    use = ENGINES[engine].capabilities.parallelism
    return use.kinds if use else frozenset()


def _types(catalogue: Catalogue, version: EngineVersion, use: MemoryUse, wanted: _Wanted) -> list[Accelerator]:
    """The types that are named, or all that the version has an image for; raises UsageError."""
    if not wanted.types:
        return distinct(catalogue.accelerators.values(), use.variants & version.images.keys())
    try:
        return [catalogue.accelerator(name) for name in _listed(wanted.types)]
    except InvalidSpec as error:
        raise UsageError(error.reason, error.message.removeprefix(f"{error.field}: "), field="--gpu") from error


def _quantizations(facts: ModelFacts, version: EngineVersion, use: MemoryUse, wanted: _Wanted) -> list[str]:
    """Those that are named, as far as the engine has them; else what is usual for such a checkpoint.

    Where files of a repository are chosen by it, also any other name that such files can have.
    """
    names, gguf = _listed(wanted.quantization), ENGINES[version.engine].capabilities.gguf
    for name in names:
        if name != "auto" and name not in version.quantizations and not (gguf and is_tag(name)):
            near = ", ".join(nearest(name, version.quantizations)) or ", ".join(version.quantizations)
            message = f"{name} is not a quantization of {version.engine} {version.version}; use one of: {near}"
            raise UsageError("UnknownQuantization", message, field="--quantization")
    if names:
        return names
    usual = ("auto",) if facts.quantization else use.quantizations
    return list(usual if wanted.types else usual[:1])


def _listed(written: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in written.split(",") if name.strip()))
