"""What the engine cannot do, found before anything is decided: nothing a user wrote is silently ignored."""

from collections.abc import Iterable, Iterator

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.arguments import check_arguments
from llmservice.engines.engine import Engine
from llmservice.errors import InvalidSpec


def check_spec(spec: LLMServiceSpec, engine: Engine, version: EngineVersion) -> None:
    """Pass what this version of the engine can do; raises InvalidSpec with one line for each problem."""
    problems = [f"{field}: {engine.name} {what}" for field, what in _beyond(spec, engine)]
    if problems:
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, "\n".join(problems))
    _check_quantization(spec.quantization, version)
    options = spec.engine_options
    check_arguments(engine, version.removed, options.args, [variable.name for variable in options.env])


def _beyond(spec: LLMServiceSpec, engine: Engine) -> Iterator[tuple[str, str]]:
    """Fields that are set and mean nothing to this engine, with the way out."""
    model, can = spec.model, engine.capabilities
    if model.revision is not None and not can.revisions:
        yield "spec.model.revision", "always loads the main branch; remove it, or copy the model to a claim (pvc://)"
    if model.trust_remote_code and not can.remote_code:
        yield "spec.model.trustRemoteCode", "runs no code of a model's repository; remove it"
    if model.file is not None and not can.gguf:
        yield "spec.model.file", "loads whole repositories or folders; remove it"
    if spec.dtype is not None and not can.dtype:
        yield "spec.dtype", "takes the number format from the model's file; remove it, or choose another quantization"


def _check_quantization(name: str, version: EngineVersion) -> None:
    known = version.quantizations
    if name != "auto" and name not in known:
        raise InvalidSpec(
            Reason.QUANTIZATION_MISSPELLED,
            f"{name} is not a quantization of {version.engine} {version.version}; {_way_out(name, known)}",
            field="spec.quantization",
        )


def _way_out(name: str, known: Iterable[str]) -> str:
    folded = {_folded(each): each for each in ("auto", *known)}
    if right := folded.get(_folded(name)):
        return f"did you mean {right}?"
    return f"name one of: {', '.join(folded.values())}"


def _folded(name: str) -> str:
    """Case and separators do not count: q4-k-m is Q4_K_M."""
    return name.casefold().replace("-", "").replace("_", "").replace(".", "")
