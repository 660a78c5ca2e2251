"""llama.cpp's options for what is loaded beside the model, and for models that generate nothing.

Read in b11312 (common/arg.cpp, tools/server/{server,server-context}.cpp), and tried with it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.adapters import Adapter, AdapterCall, AdapterSupport, LiveAdapters
from llmservice.engines.engine import Default, ServingRequest
from llmservice.engines.gguf import quantization_in
from llmservice.engines.options import Options
from llmservice.errors import InvalidSpec
from llmservice.models.model_facts import Task

TASKS = frozenset({Task.GENERATE, Task.EMBED, Task.RERANK})
PROJECTOR_SOURCES = frozenset({"pvc"})
DRAFT_SOURCES = frozenset({"pvc", "hf"})
FLAGS = (
    *("--embedding", "--reranking", "--lora-scaled", "--mmproj"),
    *("--spec-draft-model", "--spec-draft-hf", "--spec-draft-n-max"),
)
_TASK_OPTIONS = {Task.EMBED: "--embedding", Task.RERANK: "--reranking"}
_SMALLEST_BATCH = 512
"""The usual number of tokens of one step (--ubatch-size)."""
_USUAL_DRAFT_TOKENS = 3
_ADAPTERS_PAGE = "/lora-adapters"
_MOST_ADAPTERS = 256


def task_options(request: ServingRequest) -> Options:
    """The endpoints for embeddings and scores answer with these alone (handle_embeddings_impl, post_rerank)."""
    option = _TASK_OPTIONS.get(request.task)
    return ((option,),) if option else ()


def beside_variables(request: ServingRequest) -> Mapping[str, str]:
    """Settings that users may override.

    A prompt of which an embedding or a score is made is computed in one step, and refused where it is longer than that
    (server_slot::can_split). A draft model without a type is loaded and never asked. A change of what is applied leaves
    the cache of earlier prompts as it is, computed without it (launch_slot_with_task).
    """
    tokens = str(max(_SMALLEST_BATCH, request.max_model_len))
    batch = {"LLAMA_ARG_BATCH": tokens, "LLAMA_ARG_UBATCH": tokens} if request.task in _TASK_OPTIONS else {}
    draft = {"LLAMA_ARG_SPEC_TYPE": "draft-simple"} if request.draft else {}
    return {**batch, **draft, **({"LLAMA_ARG_CACHE_PROMPT": "0"} if request.live_adapters else {})}


def beside_options(request: ServingRequest) -> Options:
    """Projector, draft model and adapters."""
    projector: Options = (("--mmproj", request.projector.path),) if request.projector else ()
    return (*projector, *_draft(request), *_adapters(request))


def beside_defaults(request: ServingRequest) -> tuple[Default, ...]:
    """How many tokens are guessed ahead, where the resource does not say."""
    if request.draft is None or request.draft.tokens:
        return ()
    value = str(_USUAL_DRAFT_TOKENS)
    return (Default(field="model.draft.tokens", value=value, reason="llama.cpp's own default"),)


def beside_notes(request: ServingRequest) -> tuple[str, ...]:
    """How clients ask for an adapter: by its number, as the engine knows no names."""
    numbers = [f"{each.name}: {number}" for number, each in enumerate(request.adapters)]
    if not numbers:
        return ()
    return (f'a request asks for adapters by their numbers ({", ".join(numbers)}): "lora": [{{"id": 0, "scale": 1}}]',)


def _draft(request: ServingRequest) -> Options:
    draft = request.draft
    if draft is None:
        return ()
    source = draft.source
    where = ("--spec-draft-model", source.path) if source.path else ("--spec-draft-hf", _on_hub(request))
    tokens = str(draft.tokens or _USUAL_DRAFT_TOKENS)
    return (where, ("--spec-draft-n-max", tokens))


def _on_hub(request: ServingRequest) -> str:
    """A repository and the quantization that the file's name states; the engine takes no name of a file there."""
    source = request.draft.source if request.draft else None
    if source is None or not source.file:
        return source.repository if source else ""
    stated = quantization_in(source.file, request.version.quantizations)
    if stated:
        return f"{source.repository}:{stated}"
    raise InvalidSpec(
        Reason.UNSUPPORTED_FIELD,
        f"the engine finds files of a repository by their quantization, and {source.file} states none; omit it, or set "
        "spec.model.cache, which downloads it by its name",
        field="spec.model.draft.file",
    )


def _adapters(request: ServingRequest) -> Options:
    """All in one word: of a repeated option the last one counts. Those that change live begin unapplied.

    `--lora-init-without-apply` would leave them applied all the same (b11312: the list of adapters keeps scale 1).
    """
    for number, each in enumerate(request.adapters):
        if {",", ":"} & set(each.path):
            raise InvalidSpec(
                Reason.INVALID_SPEC,
                f"{each.path} has a comma or a colon, by which the engine splits the list of adapters; rename it",
                field=f"spec.adapters[{number}].uri",
            )
    applied = [each.always and not request.live_adapters for each in request.adapters]
    words = [f"{each.path}:{int(on)}" for each, on in zip(request.adapters, applied, strict=True)]
    return (("--lora-scaled", ",".join(words)),) if words else ()


def _calls(wanted: Sequence[Adapter], page: bytes) -> tuple[AdapterCall, ...]:
    """One request sets all scales; those that it does not name become 0."""
    scales = dict(_scales(page))
    always = {each.path: float(each.always) for each in wanted}
    if all(scale == always.get(path, 0.0) for path, scale in scales.values()):
        return ()
    body = [{"id": number, "scale": always.get(path, 0.0)} for number, (path, _) in scales.items()]
    return (AdapterCall(adapter="", path=_ADAPTERS_PAGE, body=orjson.dumps(body)),)


def _scales(page: bytes) -> Iterator[tuple[int, tuple[str, float]]]:
    """Number → path and scale."""
    said = orjson.loads(page)
    if not isinstance(said, list) or len(said) > _MOST_ADAPTERS:
        raise ValueError("the engine does not list its adapters")
    for each in said:
        if not _is_adapter(each):
            raise ValueError("the engine lists an adapter without number, path and scale")
        yield each["id"], (each["path"], float(each["scale"]))


def _is_adapter(said: Any) -> bool:
    return (
        isinstance(said, dict)
        and isinstance(said.get("id"), int)
        and isinstance(said.get("path"), str)
        and isinstance(said.get("scale"), int | float)
    )


ADAPTERS = AdapterSupport(
    schemes=frozenset({"pvc"}),
    file=True,
    named=False,
    always=True,
    live=LiveAdapters(page=_ADAPTERS_PAGE, calls=_calls),
)
"""Files are loaded at the start alone; whether one is applied changes while it runs."""
