"""Refuses what an engine cannot load beside its model."""

from collections.abc import Callable, Iterator

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.engines.adapters import AdapterSupport
from llmservice.engines.engine import Capabilities, Engine
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec
from llmservice.planning.facts import Facts
from llmservice.planning.names import choose_names
from llmservice.planning.task import POOLED, task_of


def check_beside(service: LLMService, facts: Facts, engine: Engine) -> None:
    """Raises InvalidSpec with one line for each field that means nothing to this engine, or to such a model."""
    problems = [f"{field}: {engine.name} {what}" for field, what in _unsupported(service, facts, engine)]
    if problems:
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, "\n".join(problems))
    _check_names(service)


def _unsupported(service: LLMService, facts: Facts, engine: Engine) -> Iterator[tuple[str, str]]:
    spec, can = service.spec, engine.capabilities
    model = spec.model
    if model.projector is not None and not can.projector:
        yield "spec.model.projector", f"loads what a model sees with from its own repository; {_or(_with_projector)}"
    if model.draft is not None and not can.draft:
        yield "spec.model.draft", f"takes no draft model; {_or(_with_draft)}"
    elif model.draft is not None and task_of(spec, facts) in POOLED:
        yield "spec.model.draft", "guesses nothing ahead for a model that generates no text; remove it"
    if model.draft is not None and model.draft.file is not None and not can.gguf:
        yield "spec.model.draft.file", "loads whole repositories or folders; remove it"
    if can.adapters is not None:
        yield from _of_adapters(service, can.adapters)
    elif spec.adapters:
        yield "spec.adapters", f"loads no adapters; {_or(_with_adapters)}"
    elif spec.adapter_updates == "Live":
        yield "spec.adapterUpdates", f"loads no adapters; {_or(_with_adapters)}"


def _of_adapters(service: LLMService, support: AdapterSupport) -> Iterator[tuple[str, str]]:
    if service.spec.adapter_updates == "Live" and support.live is None:
        yield "spec.adapterUpdates", "loads adapters at its start only; remove it"
    elif service.spec.adapter_updates == "Live" and service.spec.auth is not None:
        yield "spec.adapterUpdates", "answers who has a key, and the operator, which would tell it, has none; remove it"
    for number, each in enumerate(service.spec.adapters):
        if each.apply == "Always" and not support.always:
            yield f"spec.adapters[{number}].apply", "has an adapter for those who ask for it by its name; remove it"
        if each.file is not None and not support.file:
            yield f"spec.adapters[{number}].file", "loads a folder; remove it, or name the folder in uri"


def _check_names(service: LLMService) -> None:
    """A name that means the model cannot mean an adapter too."""
    names = choose_names(service).value
    for number, each in enumerate(service.spec.adapters):
        if each.name in names:
            raise InvalidSpec(
                Reason.INVALID_SPEC,
                f"{each.name} is a name of the model; give the adapter another one, or the model (spec.model.names)",
                field=f"spec.adapters[{number}].name",
            )


def _or(can: Callable[[Capabilities], bool]) -> str:
    """The ways out: remove the field, or another engine."""
    others = [name for name, engine in ENGINES.items() if can(engine.capabilities)]
    return f"remove it, or set spec.engine: {' or '.join(others)}" if others else "remove it"


def _with_projector(capabilities: Capabilities) -> bool:
    return bool(capabilities.projector)


def _with_draft(capabilities: Capabilities) -> bool:
    return bool(capabilities.draft)


def _with_adapters(capabilities: Capabilities) -> bool:
    return capabilities.adapters is not None
