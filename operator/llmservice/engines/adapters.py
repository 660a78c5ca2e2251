"""Adapters (LoRA): what an engine does with them, as values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """One adapter of a replica.

    `name` is what clients call it, `path` is what the engine loads: an absolute path in the container, or `owner/name`
    of the hub. `always`: it is applied to every request, whoever asks for it.
    """

    name: str
    path: str
    always: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterCall:
    """One POST to an engine, with JSON. `adapter` is the name that it is about, empty where it is about all of them."""

    adapter: str
    path: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveAdapters:
    """How adapters change in an engine that runs.

    The answer to a GET of `page` tells what there is. `calls` are the requests that lead from such an answer, a
    stranger's text, to what is wanted: none where all is as wanted. It raises ValueError for an answer that is not one.
    """

    page: str
    calls: Callable[[Sequence[Adapter], bytes], tuple[AdapterCall, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterSupport:
    """What an engine does with adapters.

    `schemes` are the sources that it loads from itself; with `revisions` any commit or branch of a repository. `file`:
    each is one GGUF file. `named`: clients ask for one by its name, as for a model. `always`: it can apply one to every
    request. `live`: they can change while it runs, None where a change needs a new start; with `live_list` adapters
    come and go, else only whether they are applied changes.
    """

    schemes: frozenset[str]
    revisions: bool = False
    file: bool = False
    named: bool = True
    always: bool = False
    live: LiveAdapters | None = None
    live_list: bool = False
