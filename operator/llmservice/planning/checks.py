"""Refuses what the engine cannot do: no field that a user sets is silently ignored."""

from collections.abc import Iterable, Iterator

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.arguments import check_arguments
from llmservice.engines.engine import Engine
from llmservice.engines.gguf import is_tag
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec
from llmservice.planning.facts import Facts
from llmservice.planning.gathering import gather


def check_spec(spec: LLMServiceSpec, engine: Engine, facts: Facts) -> None:
    """Accept what this version of the engine supports; raises InvalidSpec with one line for each problem."""
    options = spec.engine_options
    gather(
        lambda: _check_support(spec, engine),
        lambda: _check_quantization(spec.quantization, engine, facts),
        lambda: check_arguments(engine, facts.version, options.args, [variable.name for variable in options.env]),
    )


def _check_support(spec: LLMServiceSpec, engine: Engine) -> None:
    problems = [f"{field}: {engine.name} {what}" for field, what in _unsupported(spec, engine)]
    if problems:
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, "\n".join(problems))


def _unsupported(spec: LLMServiceSpec, engine: Engine) -> Iterator[tuple[str, str]]:
    """Fields that are set and have no meaning for this engine, each with the remedy."""
    model, can = spec.model, engine.capabilities
    if model.revision is not None and model.cache is None and not can.revisions:
        yield (
            "spec.model.revision",
            "always loads the main branch; remove it, or set spec.model.cache with an hf:// uri",
        )
    if model.trust_remote_code and not can.remote_code:
        yield "spec.model.trustRemoteCode", "does not run code from a model's repository; remove it"
    if model.file is not None and not can.gguf:
        yield "spec.model.file", "loads whole repositories or folders; remove it"
    if spec.gpu.offload_layers is not None and not can.offload:
        yield "spec.gpu.offloadLayers", "has all layers on the devices; remove it, or set spec.engine: llamacpp"
    if spec.dtype is not None and not can.dtype:
        yield "spec.dtype", "reads the number format from the model file; remove it, or choose another quantization"


def _check_quantization(name: str, engine: Engine, facts: Facts) -> None:
    """A name of this version; where files of a repository are chosen by it, any name that such files can have."""
    version, known = facts.version, facts.version.quantizations
    if name == "auto" or name in known:
        return
    if engine.capabilities.gguf and is_tag(name) and _folded(name) not in map(_folded, known):
        return
    if is_tag(name) and not engine.capabilities.gguf and name.upper() == name:
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            f"{name} names a GGUF file, and {engine.name} loads none; set spec.engine: {_those_that_load_gguf()}, or "
            "omit it and use a repository in safetensors",
            field="spec.quantization",
        )
    if facts.others:
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            f"{version.engine} {version.version} does not take {name}; set spec.engineOptions.version to "
            f"{' or '.join(facts.others)}, or {_remedy(name, known)}",
            field="spec.quantization",
        )
    raise InvalidSpec(
        Reason.QUANTIZATION_MISSPELLED,
        f"{name} is not a quantization of {version.engine} {version.version}; {_remedy(name, known)}",
        field="spec.quantization",
    )


def _those_that_load_gguf() -> str:
    return " or ".join(engine.name for engine in ENGINES.values() if engine.capabilities.gguf)


def _remedy(name: str, known: Iterable[str]) -> str:
    folded = {_folded(each): each for each in ("auto", *known)}
    if right := folded.get(_folded(name)):
        return f"did you mean {right}?"
    return f"use one of: {', '.join(folded.values())}"


def _folded(name: str) -> str:
    """Without case and separators: q4-k-m means Q4_K_M."""
    return name.casefold().replace("-", "").replace("_", "").replace(".", "")
