"""TabbyAPI's options: it publishes no package, so they are read from a clone of its repository, at a commit."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from llmservice.catalog.recorded_flags import Option, Takes
from tools.engine_flags.recording import git, record

_SOURCE = "common/config_models.py"
_ROOT = "TabbyConfigModel"
_HELP = Option(("-h", "--help"), "", Takes.NONE)


@click.command("tabbyapi")
@click.argument("version")
@click.argument("commit")
@click.option("--clone", required=True, type=click.Path(path_type=Path, exists=True), help="A clone of its repository.")
def command(version: str, commit: str, clone: Path) -> None:
    """From the source of TabbyAPI's configuration; needs the public repository."""
    whole = git(clone, "rev-parse", f"{commit}^{{commit}}").strip()
    header = f"main.py, {_SOURCE} at {whole}. Written by tools.engine_flags."
    record(f"tabbyapi-{version}", (header,), [_HELP, *config_options(git(clone, "show", f"{whole}:{_SOURCE}"))])


def config_options(source: str) -> list[Option]:
    """One option for each key of each section, as common/args.py makes them: every one takes a value, a list several.

    The variable is TABBY_, the section and the key (common/tabby_config.py).
    """
    fields = {node.name: _fields(node) for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
    return sorted(_options(fields), key=lambda option: option.spellings)


def _options(fields: Mapping[str, Mapping[str, str]]) -> Iterator[Option]:
    for section, annotation in fields[_ROOT].items():
        for key, kind in fields[annotation.removeprefix("Optional[").removesuffix("]")].items():
            takes = Takes.MANY if "List[" in kind else Takes.ONE
            yield Option((f"--{key.replace('_', '-')}",), f"TABBY_{section}_{key}".upper(), takes)


def _fields(node: ast.ClassDef) -> Mapping[str, str]:
    """The fields of a class with their types, but for those that configure pydantic."""
    found = [each for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)]
    return {
        each.target.id: ast.unparse(each.annotation)
        for each in found
        if isinstance(each.target, ast.Name) and not each.target.id.startswith("_")
    }
