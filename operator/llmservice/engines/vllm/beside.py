"""vLLM's options for what is loaded beside the model, and for models that generate nothing.

Read in 0.10.2 and 0.33.0: config/{model,lora,speculative}.py, entrypoints/{serve/lora,openai/models}, lora/utils.py.
"""

from collections.abc import Iterator, Mapping, Sequence

import orjson

from llmservice.engines.adapters import Adapter, AdapterCall, AdapterSupport, LiveAdapters
from llmservice.engines.engine import Default, ServingRequest
from llmservice.engines.options import Options
from llmservice.models.model_facts import Task

TASKS = frozenset(Task)
DRAFT_SOURCES = frozenset({"pvc", "hf"})
FLAGS = (
    *("--runner", "--convert", "--speculative-config"),
    *("--enable-lora", "--lora-modules", "--max-loras", "--max-lora-rank", "--max-cpu-loras"),
)
UPDATES = "VLLM_ALLOW_RUNTIME_LORA_UPDATING"
_CONVERT = {Task.EMBED: "embed", Task.RERANK: "classify"}
_USUAL_DRAFT_TOKENS = 5
_BATCH, _RANK, _ON_HOST = 4, 64, 16
"""Adapters in one batch, the largest rank, and adapters in host memory: others are read again when they are asked for.
vLLM's own 1, 16 and 1 are too few for adapters as they are published."""
_PAGE = "/v1/models"
_MOST_MODELS = 512


def task_options(request: ServingRequest) -> Options:
    """A model that pools: what it is made into, where its class could do another; where it could not, it stays as is.

    (`as_embedding_model`, `as_seq_cls_model` in model_executor/models/adapters.py.)
    """
    convert = _CONVERT.get(request.task)
    return (("--runner=pooling",), (f"--convert={convert}",)) if convert else ()


def draft_options(request: ServingRequest) -> Options:
    """How it guesses is found in the draft model's own config."""
    draft = request.draft
    if draft is None:
        return ()
    said: dict[str, str | int] = {
        "model": draft.source.path or draft.source.repository,
        "num_speculative_tokens": draft.tokens or _USUAL_DRAFT_TOKENS,
    }
    if draft.source.revision:
        said["revision"] = draft.source.revision
    return ((f"--speculative-config={orjson.dumps(said).decode()}",),)


def beside_defaults(request: ServingRequest) -> tuple[Default, ...]:
    """How many tokens are guessed ahead, and how many adapters there is room for."""
    return (*_draft_defaults(request), *_adapter_defaults(request))


def adapter_options(request: ServingRequest) -> Options:
    """Room for adapters, and those to load at the start: their option takes every word up to the next one."""
    if not (request.adapters or request.live_adapters):
        return ()
    named = () if request.live_adapters else tuple(f"{each.name}={each.path}" for each in request.adapters)
    return (
        *((("--lora-modules", *named),) if named else ()),
        ("--enable-lora",),
        (f"--max-loras={_BATCH}",),
        (f"--max-lora-rank={_RANK}",),
        (f"--max-cpu-loras={_ON_HOST}",),
    )


def adapter_environment(request: ServingRequest) -> Mapping[str, str]:
    """What lets adapters come and go."""
    return {UPDATES: "1"} if request.live_adapters else {}


def _draft_defaults(request: ServingRequest) -> Iterator[Default]:
    if request.draft is not None and not request.draft.tokens:
        yield Default(field="model.draft.tokens", value=str(_USUAL_DRAFT_TOKENS), reason="usual for a draft model")


def _adapter_defaults(request: ServingRequest) -> Iterator[Default]:
    if request.adapters or request.live_adapters:
        why = "set it in spec.engineOptions.args to change it"
        yield Default(field="--max-lora-rank", value=str(_RANK), reason=f"the largest rank of an adapter; {why}")
        yield Default(field="--max-loras", value=str(_BATCH), reason=f"adapters that requests of one step use; {why}")


def _calls(wanted: Sequence[Adapter], page: bytes) -> tuple[AdapterCall, ...]:
    """What is not wanted is unloaded, also what is loaded from another path; then what is missing is loaded."""
    there, paths = dict(_loaded(page)), {each.name: each.path for each in wanted}
    gone = [name for name, path in there.items() if paths.get(name) != path]
    missing = [name for name, path in paths.items() if there.get(name) != path]
    return (
        *(_call("unload", name, {"lora_name": name}) for name in gone),
        *(_call("load", name, {"lora_name": name, "lora_path": paths[name]}) for name in missing),
    )


def _call(what: str, name: str, body: Mapping[str, str]) -> AdapterCall:
    return AdapterCall(adapter=name, path=f"/v1/{what}_lora_adapter", body=orjson.dumps(body))


def _loaded(page: bytes) -> Iterator[tuple[str, str]]:
    """Name and path of each adapter: of all models listed, those that have a parent."""
    said = orjson.loads(page)
    models = said.get("data") if isinstance(said, dict) else None
    if not isinstance(models, list) or len(models) > _MOST_MODELS:
        raise ValueError("the engine does not list its models")
    for each in models:
        if isinstance(each, dict) and each.get("parent") and isinstance(each.get("id"), str):
            yield each["id"], str(each.get("root") or "")


ADAPTERS = AdapterSupport(
    schemes=frozenset({"pvc", "hf"}),
    live=LiveAdapters(page=_PAGE, calls=_calls),
    live_list=True,
)
