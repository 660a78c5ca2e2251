"""What a model is asked for: text, embeddings, scores of documents, or what is said in a recording."""

import dataclasses
from collections.abc import Mapping

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.engine import Engine
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec
from llmservice.models.model_facts import Task
from llmservice.planning.decided import Decided, default
from llmservice.planning.facts import Facts

FIRST_RENDER_VERSION = 3
"""Earlier plans took every model for one that generates, and stay as they are."""

POOLED = frozenset({Task.EMBED, Task.RERANK})
"""Each prompt ends in one vector or one score: the engine computes it in a single step, and generates nothing."""

_WHAT: Mapping[Task, str] = {
    Task.GENERATE: "generates text",
    Task.EMBED: "is an embedding model",
    Task.RERANK: "is a reranker",
    Task.TRANSCRIBE: "transcribes speech",
}
_SAID = ("kv_use", "ttft", "tpot", "inter_token_latency")
"""Roles that mean nothing where no token is generated: they stay at zero, and zero would say that nothing is to do."""
_NO_TOKENS = "no tokens are generated: running and waiting requests decide"


def task_of(spec: LLMServiceSpec, facts: Facts) -> Task:
    """What the resource says, else what is known of the model, else Generate."""
    if spec.model.task is not None:
        return Task(spec.model.task)
    known = facts.model.task if facts.render_version >= FIRST_RENDER_VERSION else None
    return known or Task.GENERATE


def choose_task(spec: LLMServiceSpec, facts: Facts) -> Decided[Task]:
    """The task, with a reason where the model's files decided on it."""
    task = task_of(spec, facts)
    if spec.model.task is not None or task is Task.GENERATE:
        return Decided(task)
    return Decided(task, default("model.task", task, f"{facts.model.architecture or 'the model'} {_WHAT[task]}"))


def check_task(spec: LLMServiceSpec, facts: Facts, engine: Engine) -> None:
    """Raises InvalidSpec (UnsupportedTask) where the engine does not serve such models, naming those that do."""
    task = task_of(spec, facts)
    if task in engine.capabilities.tasks or spec.engine_options.image is not None:
        return
    can = [name for name, other in ENGINES.items() if task in other.capabilities.tasks]
    serves = " and ".join(sorted(engine.capabilities.tasks))
    way_out = f"set spec.engine to {' or '.join(can)}" if can else "no engine of this operator can"
    stated = "" if spec.model.task is not None else "; if it is not, set spec.model.task"
    raise InvalidSpec(
        Reason.UNSUPPORTED_TASK,
        f"{spec.model.uri} {_WHAT[task]}, and {engine.name} serves {serves}; {way_out}{stated}",
        field="spec.model.task" if spec.model.task is not None else "spec.engine",
    )


def metric_names_for(task: Task, names: MetricNames) -> MetricNames:
    """The names of an engine's metrics, as far as they say something of such a model."""
    if task not in POOLED:
        return names
    substitutes = {**names.substitutes, **dict.fromkeys(_SAID, _NO_TOKENS)}
    return dataclasses.replace(
        names,
        substitutes=substitutes,
        kv_use=(),
        generated_tokens=(),
        finished_generated_tokens=(),
        ttft=(),
        tpot=(),
        inter_token_latency=(),
    )
