"""The options of SGLang's server, read from the argument definitions inside a wheel: parsed, never imported.

Since 0.5.10 most options are fields of `ServerArgs`, whose annotation says what argparse is told
(`context_length: A[Optional[int], Arg(help=…, aliases=[…])]`, arg_groups/arg_utils.py: add_cli_args_from_dataclass);
the fields lie in server_args.py, and since 0.5.20 in arg_groups/fields. Options that are deprecated or have computed
choices, and in older releases all of them, are plain `parser.add_argument("--x", …)`.
"""

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from zipfile import ZipFile

from llmservice.catalog.recorded_flags import Option, Takes
from tools.engine_flags.vllm_values import takes_of_annotation, takes_of_keywords
from tools.engine_flags.wheels import variables_named

_SOURCES = ("sglang/srt/server_args.py", "sglang/srt/arg_groups/fields/*.py")
_CHOICES = "sglang/srt/arg_groups/choices.py"
_LISTS = {"QUANTIZATION_CHOICES": "--quantization", "LOAD_FORMAT_CHOICES": "--load-format"}
_CHOSEN = ("--dtype", "--kv-cache-dtype")
_ALONE = frozenset({"DeprecatedStoreTrueAction", "DeprecatedStoreConstAction", "DeprecatedAction"})
"""Actions that take no value unless `nargs` says so (arg_groups/argparse_actions.py)."""
_BOTH = "BooleanOptionalAction"


def wheel_options(wheel: Path) -> list[Option]:
    """Every option of the server, sorted by its first spelling; raises ValueError where the wheel defines none.

    An option that only says that it is gone ends the server, so it is none.
    """
    trees = _trees(wheel, _SOURCES)
    found = {option for tree in trees for option in (*_of_fields(tree), *_added(tree))}
    if not found:
        raise ValueError("no arguments in this wheel: is it sglang?")
    return sorted({*found, Option(("-h", "--help"), "", Takes.NONE)}, key=lambda option: option.spellings)


def wheel_variables(wheel: Path) -> list[str]:
    """Every variable of SGLang's own that one of its modules names, sorted."""
    return variables_named(wheel, "SGLANG_")


def wheel_choices(wheel: Path) -> dict[str, list[str]]:
    """The values of the options about number formats and files, in the wheel's order."""
    trees = _trees(wheel, (*_SOURCES, _CHOICES))
    named = {_LISTS[name]: _strings(value) for tree in trees for name, value in _assigned(tree) if name in _LISTS}
    spelled = {flag: values for tree in trees for flag, values in _spelled_choices(tree) if flag in _CHOSEN}
    return dict(sorted((named | spelled).items()))


def _trees(wheel: Path, patterns: tuple[str, ...]) -> list[ast.Module]:
    with ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if any(fnmatch(name, pattern) for pattern in patterns)]
        return [ast.parse(archive.read(name)) for name in names]


def _of_fields(tree: ast.Module) -> Iterator[Option]:
    """One option for each annotated field that is not kept from the command line."""
    for name, kind, told in _fields(tree):
        if "no_cli" not in told:
            yield _option(_spellings(name, told), kind, told)


def _fields(tree: ast.Module) -> Iterator[tuple[str, ast.expr, dict[str, ast.expr]]]:
    """Field, type, and the keywords of its `Arg`; a bare text is its help."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        kind = node.annotation
        if isinstance(kind, ast.Subscript) and _word(kind.value) == "A" and isinstance(kind.slice, ast.Tuple):
            first, *metas = kind.slice.elts
            if any(isinstance(meta, ast.Constant) or _word(meta) == "Arg" for meta in metas):
                yield node.target.id, first, _told(metas)


def _told(metas: list[ast.expr]) -> dict[str, ast.expr]:
    calls = (meta for meta in metas if isinstance(meta, ast.Call) and _word(meta.func) == "Arg")
    told = {keyword.arg: keyword.value for call in calls for keyword in call.keywords if keyword.arg}
    more = told.get("action_kwargs")
    if isinstance(more, ast.Dict):
        pairs = zip(more.keys, more.values, strict=True)
        told |= {str(ast.literal_eval(key)): value for key, value in pairs if key is not None}
    return told


def _spellings(name: str, told: dict[str, ast.expr]) -> tuple[str, ...]:
    own = ast.literal_eval(told["cli_name"]) if "cli_name" in told else f"--{name.replace('_', '-')}"
    return (own, *(ast.literal_eval(told["aliases"]) if "aliases" in told else ()))


def _option(names: tuple[str, ...], kind: ast.expr, told: dict[str, ast.expr]) -> Option:
    """As add_cli_args_from_dataclass does: the action decides, then a list, then a bool, else it takes one value."""
    if "action" in told and _word(told["action"]) == _BOTH:
        return Option((*names, *(f"--no-{name[2:]}" for name in names if name.startswith("--"))), "", Takes.NONE)
    parsed = "type_parser" in told
    usual = Takes.ONE if parsed else takes_of_annotation(kind, {})
    return Option(names, "", _takes(told, usual))


def _added(tree: ast.Module) -> Iterator[Option]:
    """Each `add_argument` of an option, but those that only refuse."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _word(call.func) == "add_argument":
            names = tuple(str(part.value) for part in call.args if isinstance(part, ast.Constant))
            told = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
            if names and names[0].startswith("-") and "error_message" not in told:
                yield Option(names, "", _takes(told, Takes.ONE))


def _takes(told: dict[str, ast.expr], usual: Takes) -> Takes:
    action = _word(told["action"]) if "action" in told else ""
    if action in _ALONE:
        return Takes.ONE if "nargs" in told else Takes.NONE
    return takes_of_keywords(told, usual)


def _spelled_choices(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """The choices that stand where the option is defined."""
    for name, _, told in _fields(tree):
        if isinstance(told.get("choices"), ast.List):
            yield _spellings(name, told)[0], _strings(told["choices"])
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _word(call.func) == "add_argument" and isinstance(call.args[0], ast.Constant):
            choices = next((keyword.value for keyword in call.keywords if keyword.arg == "choices"), None)
            if isinstance(choices, ast.List):
                yield str(call.args[0].value), _strings(choices)


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign):
            yield _word(node.targets[0]), node.value


def _strings(node: ast.expr) -> list[str]:
    return [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _word(node: ast.expr) -> str:
    """The last word of a name: argparse.BooleanOptionalAction → BooleanOptionalAction."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Call):
        return _word(node.func)
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)
