"""The options of `lmdeploy serve api_server`, read from the argument definitions inside a wheel: parsed, never run.

`SubCliServe.add_parser_api_server` (cli/serve.py) adds some options itself and asks `ArgumentHelper` (cli/utils.py) for
the others, one method for each: `ArgumentHelper.session_len(pt_group)`. The other subcommands are not looked at.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from zipfile import ZipFile

from llmservice.catalog.recorded_flags import Option, Takes
from tools.engine_flags.vllm_values import takes_of_keywords
from tools.engine_flags.wheels import variables_named

_COMMAND, _HELPERS = "lmdeploy/cli/serve.py", "lmdeploy/cli/utils.py"
_FUNCTION, _HELPER = "add_parser_api_server", "ArgumentHelper"
_CHOSEN = ("--dtype", "--model-format", "--quant-policy", "--backend")

Functions = Mapping[str, ast.FunctionDef]
"""Name → a method of ArgumentHelper."""


def wheel_options(wheel: Path) -> list[Option]:
    """Every option of the server, sorted by its first spelling; raises ValueError where the wheel defines none."""
    added = list(_arguments(wheel))
    if not added:
        raise ValueError(f"no {_FUNCTION} in this wheel: is it lmdeploy?")
    options = {Option(names, "", takes_of_keywords(told, Takes.ONE)) for names, told in added}
    return sorted({*options, Option(("-h", "--help"), "", Takes.NONE)}, key=lambda option: option.spellings)


def wheel_choices(wheel: Path) -> dict[str, list[str]]:
    """The values of the options about number formats and engines, where they are written down."""
    found = {names[0]: told["choices"] for names, told in _arguments(wheel) if "choices" in told}
    return {flag: _texts(found[flag]) for flag in _CHOSEN if flag in found}


def wheel_variables(wheel: Path) -> list[str]:
    """Every variable with LMDeploy's prefix that one of its modules names, sorted."""
    return variables_named(wheel, "LMDEPLOY_")


def _arguments(wheel: Path) -> Iterator[tuple[tuple[str, ...], dict[str, ast.expr]]]:
    """Spellings and keywords of each option."""
    with ZipFile(wheel) as archive:
        command, helpers = (ast.parse(archive.read(name)) for name in (_COMMAND, _HELPERS))
    functions = _functions(helpers)
    yield from _added(_functions(command)[_FUNCTION], functions)


def _added(function: ast.FunctionDef, helpers: Functions) -> Iterator[tuple[tuple[str, ...], dict[str, ast.expr]]]:
    for call in ast.walk(function):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr == "add_argument":
            names = tuple(str(part.value) for part in call.args if isinstance(part, ast.Constant))
            if names and names[0].startswith("-"):
                yield names, {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
        elif ast.unparse(call.func.value) == _HELPER:
            yield from _added(helpers[call.func.attr], helpers)


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def _texts(node: ast.expr) -> list[str]:
    parts = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return [str(part.value) for part in parts if isinstance(part, ast.Constant)]
