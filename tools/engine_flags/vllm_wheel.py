"""The options of `vllm serve`, read from the argument definitions inside a wheel: parsed, never imported.

vLLM makes its options in three ways, and this reads all of them:
`parser.add_argument("--x", "-y", …)`; `add_argument("--x", **kwargs["field"])` with `kwargs = get_kwargs(SomeConfig)`,
where a bool field gives `--no-x` as well; and one option for each field of the classes of the front end.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from zipfile import ZipFile

from llmservice.catalog.recorded_flags import Option

_SOURCES = (
    "vllm/engine/arg_utils.py",
    "vllm/entrypoints/*/cli_args.py",
    "vllm/config/*.py",
    "vllm/utils/argparse_utils.py",
)
_CHOICES = {"ModelDType": "--dtype", "CacheDType": "--kv-cache-dtype", "QuantizationMethods": "--quantization"}
_INVERSES = (("--enable-", "--disable-"), ("--disable-", "--enable-"))

Classes = Mapping[str, Mapping[str, bool]]
"""Class → field → whether the field is a bool; fields of base classes included."""


def wheel_options(wheel: Path) -> list[Option]:
    """Every option of `vllm serve`, sorted by its first spelling."""
    trees = _trees(wheel, _SOURCES)
    classes = _classes(trees)
    found = {names for tree in trees for names in _added(tree, classes)} | set(_of_front_end(classes))
    inverses = "EnableDisableAction" in classes
    options = {Option(_with_negations(names, inverses=inverses) if is_bool else names) for names, is_bool in found}
    return sorted({*options, Option(("-h", "--help"))}, key=lambda option: option.spellings)


def wheel_choices(wheel: Path) -> dict[str, list[str]]:
    """The values of the options about number formats, in the wheel's order."""
    trees = _trees(wheel, (*_SOURCES, "vllm/model_executor/layers/quantization/__init__.py"))
    lists = {_word(node.targets[0]): node.value for tree in trees for node in tree.body if isinstance(node, ast.Assign)}
    literals = {name: lists[name] for name in _CHOICES}
    return {_CHOICES[name]: _strings(node) for name, node in literals.items()}


def _strings(node: ast.expr) -> list[str]:
    return [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _trees(wheel: Path, patterns: Iterable[str]) -> list[ast.Module]:
    with ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if any(fnmatch(name, pattern) for pattern in patterns)]
        return [ast.parse(archive.read(name)) for name in names]


def _with_negations(names: tuple[str, ...], *, inverses: bool) -> tuple[str, ...]:
    """A bool option as argparse offers it: `--no-x` too, and since 0.33 `--disable-x` for `--enable-x`."""
    long = [name for name in names if name.startswith("--")]
    pairs = [(name, old, new) for name in long for old, new in _INVERSES if inverses and name.startswith(old)]
    return (*names, *(f"--no-{name[2:]}" for name in long), *(new + name.removeprefix(old) for name, old, new in pairs))


def _classes(trees: Iterable[ast.Module]) -> Classes:
    definitions = {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}

    def fields(name: str) -> dict[str, bool]:
        if name not in definitions:
            return {}
        inherited = {
            field: is_bool for base in definitions[name].bases for field, is_bool in fields(_word(base)).items()
        }
        return inherited | dict(_fields(definitions[name]))

    return {name: fields(name) for name in definitions}


def _fields(definition: ast.ClassDef) -> Iterator[tuple[str, bool]]:
    for node in definition.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = {part.id for part in ast.walk(node.annotation) if isinstance(part, ast.Name)}
            yield node.target.id, "bool" in names and "str" not in names


def _of_front_end(classes: Classes) -> Iterator[tuple[tuple[str, ...], bool]]:
    for field, is_bool in classes["FrontendArgs"].items():
        yield (f"--{field.replace('_', '-')}",), is_bool


def _added(tree: ast.Module, classes: Classes) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The spellings of each `add_argument`, and whether it is a bool option."""
    made = dict(_kwargs_made(tree))
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _word(call.func) == "add_argument":
            names = tuple(str(part.value) for part in call.args if isinstance(part, ast.Constant))
            if names and names[0].startswith("-"):
                yield names, any(_makes_bool(keyword, made, classes) for keyword in call.keywords)


def _kwargs_made(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """`model_kwargs = get_kwargs(ModelConfig)` → ("model_kwargs", "ModelConfig")."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _word(node.value.func) == "get_kwargs":
            yield _word(node.targets[0]), _word(node.value.args[0])


def _makes_bool(keyword: ast.keyword, made: Mapping[str, str], classes: Classes) -> bool:
    """`action=argparse.BooleanOptionalAction`, or `**model_kwargs["trust_remote_code"]` of a bool field."""
    if keyword.arg == "action":
        return _word(keyword.value) == "BooleanOptionalAction"
    if keyword.arg is not None:
        return False
    parts = [part for part in ast.walk(keyword.value) if isinstance(part, ast.Subscript)]
    return any(classes[made[_word(part.value)]][ast.literal_eval(part.slice)] for part in parts)


def _word(node: ast.expr) -> str:
    """The last word of a name: argparse.BooleanOptionalAction → BooleanOptionalAction."""
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)
