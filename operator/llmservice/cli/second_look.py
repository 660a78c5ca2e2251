"""What else is wrong with a resource whose fields are wrong: it is planned without them, so that one edit corrects all.

Only names are told: what depends on a number that was left out, such as whether the model fits, would mislead.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cli.field_paths import parts_of
from llmservice.cli.findings import lines_of
from llmservice.errors import InvalidSpec

_OF_NAMES = frozenset(
    {
        Reason.UNKNOWN_ENGINE,
        Reason.UNKNOWN_VERSION,
        Reason.UNKNOWN_ACCELERATOR,
        Reason.AMBIGUOUS_ACCELERATOR,
        Reason.QUANTIZATION_MISSPELLED,
        Reason.OWNED_ARGUMENT,
    }
)


_TYPE = "spec.gpu"
_LOOKS = 4
"""Each takes away what the one before it found: planning stops at what it cannot go on without."""


def problems_beyond(
    raw: Mapping[str, Any], error: InvalidSpec, planner: Callable[[LLMService], object]
) -> Iterator[tuple[str, str, str]]:
    """Reason, field and message of problems that planning finds when the fields of `error` are left out."""
    told: set[str] = set()
    rest = deepcopy(dict(raw))
    for _ in range(_LOOKS):
        wrong = {field for _, field, _ in lines_of(error)}
        _leave_all_out(rest, wrong)
        following = _refusal(rest, planner)
        if wrong <= told or following is None:
            return
        error, told = following, told | wrong
        for reason, field, message in lines_of(error):
            if reason in _OF_NAMES and field not in told:
                yield reason, field, message


def _leave_all_out(rest: dict[str, Any], wrong: set[str]) -> None:
    for field in wrong:
        _leave_out(rest, tuple(parts_of(field)))
    if any(field.startswith(_TYPE) for field in wrong):
        _on_the_cpu(rest)


def _refusal(rest: Mapping[str, Any], planner: Callable[[LLMService], object]) -> InvalidSpec | None:
    try:
        planner(LLMService.parse(rest))
    except InvalidSpec as error:
        return error
    return None


def _on_the_cpu(rest: dict[str, Any]) -> None:
    """Without its type nothing would be planned on a GPU; names are the same on the CPU."""
    spec = rest.get("spec")
    if isinstance(spec, dict):
        spec["gpu"] = {"count": 0}


def _leave_out(value: Any, path: tuple[str | int, ...]) -> None:
    """Take a field away, of a list that is wrong in itself all: others are counted by their place in it."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    if len(path) > 1:
        _leave_out(_part(value, path[0]), path[1:])
    elif path and isinstance(value, dict):
        value.pop(path[0], None)


def _part(value: Any, part: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    return value[part] if isinstance(value, list) and isinstance(part, int) and part < len(value) else None
