"""The options of a command that is written with Typer, read from its source without importing it.

Typer names an option after its parameter, and gives a switch a second spelling with `--no-` unless it is told names.
Read: `Annotated[TYPE, typer.Option(…)]` of the parameters of a function; those with `typer.Argument` are no options.
"""

import ast
from collections.abc import Iterator

from llmservice.catalog.recorded_flags import Option, Takes


def typer_options(source: str, function: str) -> list[Option]:
    """Every option of a function or method, with `--help`, sorted; raises ValueError where there is no such one."""
    found = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef) and node.name == function
    ]
    if not found:
        raise ValueError(f"no function {function} in this source")
    parameters = [option for argument in found[0].args.args if (option := _option(argument))]
    options = [*parameters, Option(("--help",), "", Takes.NONE)]
    return sorted(options, key=lambda option: option.spellings)


def _option(argument: ast.arg) -> Option | None:
    annotation = argument.annotation
    if not isinstance(annotation, ast.Subscript) or not isinstance(annotation.slice, ast.Tuple):
        return None
    kind, call = annotation.slice.elts[0], annotation.slice.elts[1]
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "typer.Option":
        return None
    names = tuple(_names(call)) or _usual(argument.arg, switch=_is_switch(kind))
    return Option(names, "", Takes.NONE if _is_switch(kind) else Takes.ONE)


def _names(call: ast.Call) -> Iterator[str]:
    """The names it is told: words with a dash, and those of a switch with a slash between them."""
    for each in call.args:
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.startswith("-"):
            yield from each.value.split("/")


def _usual(parameter: str, *, switch: bool) -> tuple[str, ...]:
    name = parameter.replace("_", "-")
    return (f"--{name}", f"--no-{name}") if switch else (f"--{name}",)


def _is_switch(kind: ast.expr) -> bool:
    return "bool" in ast.unparse(kind).replace(" ", "").split("|")
