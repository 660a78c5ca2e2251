"""The options of `vllm serve`, read from the argument definitions inside a wheel: parsed, never imported.

vLLM makes its options in three ways, and this reads all of them:
`parser.add_argument("--x", "-y", …)`; `add_argument("--x", **kwargs["field"])` with `kwargs = get_kwargs(SomeConfig)`,
where a bool field gives `--no-x` as well; and one option for each field of the classes of the front end.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

from llmservice.catalog.recorded_flags import Option, Takes
from tools.engine_flags.vllm_values import takes_of_annotation, takes_of_keywords

_SOURCES = (
    "vllm/engine/arg_utils.py",
    "vllm/entrypoints/*/cli_args.py",
    "vllm/config/*.py",
    "vllm/utils/argparse_utils.py",
)
_CHOICES = {"ModelDType": "--dtype", "CacheDType": "--kv-cache-dtype", "QuantizationMethods": "--quantization"}
_QUOTED = re.compile(rb"""["'](VLLM_[A-Z0-9_]+)["']""")
_NAMED = re.compile(rb"VLLM_[A-Z0-9_]+")
_INVERSES = (("--enable-", "--disable-"), ("--disable-", "--enable-"))

Classes = Mapping[str, Mapping[str, ast.expr]]
"""Class → field → its annotation; fields of base classes included."""


class Added(NamedTuple):
    """One `add_argument`: its spellings, what it takes, and whether it has negations."""

    spellings: tuple[str, ...]
    takes: Takes
    negations: bool


def wheel_options(wheel: Path) -> list[Option]:
    """Every option of `vllm serve`, sorted by its first spelling."""
    trees = _trees(wheel, _SOURCES)
    classes = _classes(trees)
    found = {added for tree in trees for added in _added(tree, classes)} | set(_of_front_end(trees, classes))
    inverses = "EnableDisableAction" in classes
    options = {
        Option(_with_negations(names, inverses=inverses) if negations else names, "", takes)
        for names, takes, negations in found
    }
    return sorted({*options, Option(("-h", "--help"), "", Takes.NONE)}, key=lambda option: option.spellings)


def wheel_variables(wheel: Path, known: Iterable[str]) -> list[str]:
    """Every variable of vLLM's own that the wheel names, sorted: more than envs.py lists.

    Modules name them in quotes. In a library a name may run into the text behind it, so of libraries only those are
    taken that are `known` from modules of other versions.
    """
    quoted, found = set[bytes](), set[bytes]()
    with ZipFile(wheel) as archive:
        for name in archive.namelist():
            kind, pattern = (quoted, _QUOTED) if name.endswith(".py") else (found, _NAMED)
            kind.update(pattern.findall(archive.read(name)))
    named = {name for name in known if any(longer.startswith(name.encode()) for longer in found)}
    return sorted(named | {name.decode() for name in quoted})


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

    def fields(name: str) -> dict[str, ast.expr]:
        if name not in definitions:
            return {}
        inherited = {field: kind for base in definitions[name].bases for field, kind in fields(_word(base)).items()}
        return inherited | dict(_fields(definitions[name]))

    return {name: fields(name) for name in definitions}


def _fields(definition: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for node in definition.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node.annotation


def _of_front_end(trees: Iterable[ast.Module], classes: Classes) -> Iterator[Added]:
    """One option for each field; those whose `nargs` is deleted again take one value."""
    alone = {field for tree in trees for field in _without_nargs(tree)}
    for field, annotation in classes["FrontendArgs"].items():
        takes = takes_of_annotation(annotation, classes)
        spellings = (f"--{field.replace('_', '-')}",)
        yield Added(spellings, Takes.ONE if field in alone else takes, takes == Takes.NONE)


def _without_nargs(tree: ast.Module) -> Iterator[str]:
    """`del frontend_kwargs["middleware"]["nargs"]` → middleware."""
    for node in ast.walk(tree):
        for target in node.targets if isinstance(node, ast.Delete) else ():
            path = [ast.literal_eval(part.slice) for part in ast.walk(target) if isinstance(part, ast.Subscript)]
            if path[:1] == ["nargs"]:
                yield path[1]


def _added(tree: ast.Module, classes: Classes) -> Iterator[Added]:
    """Each `add_argument` of an option."""
    fields = _Fields(tree)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _word(call.func) == "add_argument":
            names = tuple(str(part.value) for part in call.args if isinstance(part, ast.Constant))
            if names and names[0].startswith("-"):
                yield _one_added(names, call.keywords, fields, classes)


def _one_added(names: tuple[str, ...], written: Iterable[ast.keyword], fields: "_Fields", classes: Classes) -> Added:
    keywords = {keyword.arg: keyword.value for keyword in written if keyword.arg is not None}
    usual = Takes.ONE
    for keyword in written:
        if keyword.arg is None:
            made, field, others = fields.named_in(keyword.value)
            keywords |= others
            usual = takes_of_annotation(classes[made][field], classes)
    action = _word(keywords["action"]) if "action" in keywords else ""
    takes = takes_of_keywords(keywords, usual)
    return Added(names, takes, action == "BooleanOptionalAction" or ("action" not in keywords and takes == Takes.NONE))


class _Fields:
    """Which field of which class the keywords of a module stand for."""

    def __init__(self, tree: ast.Module) -> None:
        self._assigned = {_word(node.targets[0]): node.value for node in ast.walk(tree) if isinstance(node, ast.Assign)}

    def named_in(self, node: ast.expr) -> tuple[str, str, dict[str, ast.expr]]:
        """Class, field, and the keywords given besides.

        `kwargs["x"]`, `get_kwargs(SomeConfig)["x"]`, `{**kwargs["x"], "default": None}`, or a name for one of them.
        """
        if isinstance(node, ast.Dict):
            pairs = list(zip(node.keys, node.values, strict=True))
            others = {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
            made, field, _ = self.named_in(next(value for key, value in pairs if key is None))
            return made, field, others
        if isinstance(node, ast.Subscript):
            return self._made(node.value), ast.literal_eval(node.slice), {}
        return self.named_in(self._assigned[_word(node)])

    def _made(self, node: ast.expr) -> str:
        """`model_kwargs`, which is `get_kwargs(ModelConfig)` → ModelConfig."""
        call = node if isinstance(node, ast.Call) else self._assigned[_word(node)]
        if not isinstance(call, ast.Call):
            raise TypeError(f"{ast.unparse(node)} is not made by get_kwargs")
        return _word(call.args[0])


def _word(node: ast.expr) -> str:
    """The last word of a name: argparse.BooleanOptionalAction → BooleanOptionalAction."""
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)
