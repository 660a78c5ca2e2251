"""What is wrong with a resource, in its writer's words: one line for each problem, field first, way out last.

Values are repeated only where they are numbers or one of few words: a line never shows what might be a secret.
"""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from llmservice.api.v1alpha1.base import BROKEN_RULES, ApiModel
from llmservice.api.v1alpha1.lists import REPEATED
from llmservice.api.v1alpha1.quantity import WRONG_QUANTITY
from llmservice.api.v1alpha1.text import WRONG_FORM
from llmservice.untrusted.patterns import compiled

_Place = tuple[int | str, ...]

_LONGEST_NAME = 64
_WITH_SUFFIX = compiled(r"(?P<number>[0-9]{1,6})(?P<suffix>[kKmM])i?")
_WITH_UNIT = compiled(r"(?P<number>[0-9]{1,6})(?P<unit>s|m|min|h|d)")
_UNIT_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
_LARGEST_SHOWN = 10**15


def problems_of(error: ValidationError, root: type[ApiModel]) -> list[str]:
    """Every problem as "spec.gpu.count: must be at most 64, not 100"; the order is that of the fields."""
    every = error.errors(include_url=False)
    return [line for details in every if not _follows(details, every) for line in _lines(details, root)]


def _follows(details: ErrorDetails, every: list[ErrorDetails]) -> bool:
    """Whether a list is only too short because pydantic left out its wrong elements."""
    place = details["loc"]
    within = (other["loc"] for other in every if len(other["loc"]) > len(place))
    return details["type"] == "too_short" and any(other[: len(place)] == place for other in within)


def _lines(details: ErrorDetails, root: type[ApiModel]) -> Iterator[str]:
    place = details["loc"]
    if details["type"] == BROKEN_RULES:
        for field_path, message in details["ctx"]["broken"]:
            yield f"{_written(place)}{field_path}: {message}".lstrip(".")
        return
    say = _SAYINGS.get(details["type"])
    text = say(details, _model_at(root, place[:-1])) if say else details["msg"]
    yield f"{_written(place)}: {text}"


def _written(place: _Place) -> str:
    """The path as users write it: spec.engineOptions.env[0].name, spec.pod.labels['a/b']."""
    path = ""
    for part in place:
        if part == "[key]":
            continue
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if _is_word(part) else f"[{part[:_LONGEST_NAME]!r}]"
    return path.lstrip(".")


def _is_word(part: str) -> bool:
    return len(part) <= _LONGEST_NAME and part.isascii() and part.replace("_", "a").isalnum()


def _model_at(root: type[ApiModel], place: _Place) -> type[ApiModel] | None:
    """The type of the object at a place; None below maps and scalars."""
    model: type[ApiModel] | None = root
    for part in place:
        if isinstance(part, str):
            fields = model.model_fields.values() if model else ()
            model = next((_model_in(field.annotation) for field in fields if field.alias == part), None)
    return model


def _model_in(annotation: Any) -> type[ApiModel] | None:
    """The ApiModel inside an optional, a list or an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, ApiModel):
        return annotation
    return next((model for argument in get_args(annotation) if (model := _model_in(argument))), None)


def _fields(model: type[ApiModel] | None) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()] if model else []


def _unknown_field(details: ErrorDetails, model: type[ApiModel] | None) -> str:
    name, known = str(details["loc"][-1]), _fields(model)
    if near := nearest(name, known):
        return f"unknown field; did you mean {near}?"
    hint = f"{model.unknown_field_hint}; " if model and model.unknown_field_hint else ""
    return f"unknown field; {hint}remove it, or use one of {', '.join(known)}"


def nearest(word: str, known: list[str]) -> str:
    """The known word that was probably meant, case and underscores aside; empty when none is near."""
    if len(word) > _LONGEST_NAME:
        return ""
    folded = {_folded(item): item for item in known}
    near = get_close_matches(_folded(word), folded, n=1, cutoff=0.7)
    return folded[near[0]] if near else ""


def _folded(word: str) -> str:
    return word.replace("_", "").replace("-", "").lower()


def _one_of(details: ErrorDetails, _: object) -> str:
    expected = str(details["ctx"]["expected"]).replace("'", "").replace(" or ", ", ")
    if "," not in expected:
        return f"must be {expected}"
    value = details["input"]
    meant = nearest(value, expected.split(", ")) if isinstance(value, str) else ""
    return f"must be one of {expected}" + (f"; did you mean {meant}?" if meant else "")


def _object(details: ErrorDetails, model: type[ApiModel] | None) -> str:
    of = _model_in(_annotation(model, details["loc"][-1]))
    return f"must be an object with {', '.join(_fields(of))}" if of else "must be an object of names and values"


def _annotation(model: type[ApiModel] | None, name: int | str) -> Any:
    fields = model.model_fields.values() if model else ()
    return next((field.annotation for field in fields if field.alias == name), model)


def _always(text: str) -> Callable[[ErrorDetails, object], str]:
    return lambda details, _: text.format(**details.get("ctx", {}))


def _number(text: str) -> Callable[[ErrorDetails, object], str]:
    def say(details: ErrorDetails, _: object) -> str:
        given = details["input"]
        shown = f", not {given}" if abs(given) < _LARGEST_SHOWN else ""
        return text.format(**details["ctx"]) + shown

    return say


def _whole(details: ErrorDetails, _: object) -> str:
    """`8k` may be 8000 or 8192: the number is asked for, and both are shown. Of a time `10m` is 600."""
    given = details["input"]
    if str(details["loc"][-1]).endswith("Seconds"):
        return _whole_seconds(given)
    found = _WITH_SUFFIX.whole(given) if isinstance(given, str) else None
    if found is None:
        return "must be a whole number, without quotes"
    number, power = int(found["number"]), 1 if found["suffix"].lower() == "k" else 2
    return f"must be a whole number, without quotes: {number * 1000**power} or {number * 1024**power}, not {given}"


def _whole_seconds(given: Any) -> str:
    found = _WITH_UNIT.whole(given) if isinstance(given, str) else None
    meant = f": {int(found['number']) * _UNIT_SECONDS[found['unit']]}, not {given}" if found else ""
    return f"must be a whole number of seconds, without quotes{meant}"


def _too_short(what: str) -> Callable[[ErrorDetails, object], str]:
    def say(details: ErrorDetails, _: object) -> str:
        least = details["ctx"]["min_length"]
        return f"must have at least {least} {what}{'' if least == 1 else 's'}"

    return say


_LIST = _always("must be a list: begin each element with '- '")

_SAYINGS: Mapping[str, Callable[[ErrorDetails, type[ApiModel] | None], str]] = {
    "missing": _always("is required: add it"),
    "extra_forbidden": _unknown_field,
    "invalid_key": _always("names must be texts: put it in quotes"),
    "literal_error": _one_of,
    "model_type": _object,
    "mapping_type": _object,
    "dict_type": _object,
    "int_type": _whole,
    "int_from_float": _whole,
    "int_parsing": _whole,
    "bool_type": _always("must be true or false, without quotes"),
    "string_type": _always("must be a text: put it in quotes"),
    "tuple_type": _LIST,
    "list_type": _LIST,
    "greater_than_equal": _number("must be at least {ge}"),
    "less_than_equal": _number("must be at most {le}"),
    "string_too_short": _too_short("character"),
    "string_too_long": _always("must have at most {max_length} characters"),
    "too_short": _too_short("element"),
    "too_long": _always("must have at most {max_length} elements"),
    WRONG_FORM: _always("{message}"),
    WRONG_QUANTITY: _always("{message}"),
    REPEATED: _always("{message}"),
}
